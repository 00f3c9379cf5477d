import { type Kysely, type Migration, Migrator, sql } from 'kysely'
import { buildVersion } from '../base/version.js'
import { ConfigError } from '../errors/configError.js'
import { initial } from './migrations/0001-0049/0001-initial.js'
import { tankModes } from './migrations/0001-0049/0002-tank-modes.js'
import { policies } from './migrations/0001-0049/0003-policies.js'
import { administration } from './migrations/0001-0049/0004-administration.js'
import { executors } from './migrations/0001-0049/0005-executors.js'
import { leases } from './migrations/0001-0049/0006-leases.js'
import { reputation } from './migrations/0001-0049/0007-reputation.js'
import { spending } from './migrations/0001-0049/0022-spending.js'
import { dashboard } from './migrations/0001-0049/0031-dashboard.js'
import { tokens } from './migrations/0001-0049/0040-tokens.js'
import { largePools } from './migrations/0050-0099/0050-large-pools.js'
import { payers } from './migrations/0050-0099/0060-payers.js'
import { oneAlarm } from './migrations/0050-0099/0061-one-alarm.js'
import { appIndex } from './migrations/0050-0099/0062-app-index.js'
import { mostCharged } from './migrations/0050-0099/0070-most-charged.js'
import { validUntilBlock } from './migrations/0050-0099/0071-valid-until-block.js'
import { watchedOperations } from './migrations/0050-0099/0072-watched-operations.js'
import { reverts } from './migrations/0050-0099/0073-reverts.js'
import { assuredPrice } from './migrations/0050-0099/0080-assured-price.js'
import { tankContract } from './migrations/0050-0099/0090-tank-contract.js'
import { boundedTenants } from './migrations/0050-0099/0095-bounded-tenants.js'
import { sponsor } from './migrations/0100-0149/0100-sponsor.js'
import { masterKey } from './migrations/0100-0149/0105-master-key.js'
import { bundleCost } from './migrations/0100-0149/0110-bundle-cost.js'
import { refusals } from './migrations/0100-0149/0120-refusals.js'
import { operationHistory } from './migrations/0100-0149/0121-operation-history.js'
import { quotas } from './migrations/0100-0149/0125-quotas.js'
import { timesAndKeys } from './migrations/0100-0149/0135-times-and-keys.js'
import { webhookCircuits } from './migrations/0100-0149/0136-webhook-circuits.js'
import { recordLists } from './migrations/0100-0149/0137-record-lists.js'
import { refusedRecords } from './migrations/0100-0149/0138-refused-records.js'
import { authTokens } from './migrations/0100-0149/0145-auth-tokens.js'
import { users } from './migrations/0100-0149/0146-users.js'
import type { Schema } from './schema.js'

/** `Database` of `database.ts`, which asks this file for the newest migration. */
type Database = Kysely<Schema>

import { bundleSizes } from './migrations/0150-0199/0155-bundle-sizes.js'
import { refusedAndReorged } from './migrations/0150-0199/0162-refused-and-reorged.js'
import { relayedBundles } from './migrations/0150-0199/0166-relayed-bundles.js'
import { userIdentities } from './migrations/0150-0199/0180-user-identities.js'
import { deliveryAttempts } from './migrations/0150-0199/0181-delivery-attempts.js'

/** All steps by the name that a database remembers; they run in the order of these names. */
export const migrations: Readonly<Record<string, Migration>> = {
  '0001-initial': initial,
  '0002-tank-modes': tankModes,
  '0003-policies': policies,
  '0004-administration': administration,
  '0005-executors': executors,
  '0006-leases': leases,
  '0007-reputation': reputation,
  '0022-spending': spending,
  '0031-dashboard': dashboard,
  '0040-tokens': tokens,
  '0050-large-pools': largePools,
  '0060-payers': payers,
  '0061-one-alarm': oneAlarm,
  '0062-app-index': appIndex,
  '0070-most-charged': mostCharged,
  '0071-valid-until-block': validUntilBlock,
  '0072-watched-operations': watchedOperations,
  '0073-reverts': reverts,
  '0080-assured-price': assuredPrice,
  '0090-tank-contract': tankContract,
  '0095-bounded-tenants': boundedTenants,
  '0100-sponsor': sponsor,
  '0105-master-key': masterKey,
  '0110-bundle-cost': bundleCost,
  '0120-refusals': refusals,
  '0121-operation-history': operationHistory,
  '0125-quotas': quotas,
  '0135-times-and-keys': timesAndKeys,
  '0136-webhook-circuits': webhookCircuits,
  '0137-record-lists': recordLists,
  '0138-refused-records': refusedRecords,
  '0145-auth-tokens': authTokens,
  '0146-users': users,
  '0155-bundle-sizes': bundleSizes,
  '0162-refused-and-reorged': refusedAndReorged,
  '0166-relayed-bundles': relayedBundles,
  '0180-user-identities': userIdentities,
  '0181-delivery-attempts': deliveryAttempts,
}

/** The last step, which says what schema this build knows. */
export const newestMigration = Object.keys(migrations).sort().at(-1) ?? ''

/** Refuses a schema that a newer version has made: this one would not know what its columns mean. */
async function requireKnownSchema(database: Database): Promise<void> {
  if (!(await hasSchema(database))) return
  const { rows } = await sql<{
    name: string
  }>`select name from kysely_migration order by name`.execute(database)
  const unknown = rows.filter(({ name }) => !Object.hasOwn(migrations, name)).at(-1)
  if (unknown === undefined) return
  throw new ConfigError(
    `The database was changed by a newer version of Purser, up to ${unknown.name}; this one (${buildVersion}) ends at ${newestMigration}. Start the newer version, or restore a backup that was made before it.`,
  )
}

/** Brings the schema up to date; of several processes that start at once, one does it. */
export async function migrate(database: Database): Promise<readonly string[]> {
  await requireKnownSchema(database)
  const migrator = new Migrator({
    db: database,
    provider: { getMigrations: async () => migrations },
  })
  const { error, results } = await migrator.migrateToLatest()
  if (error !== undefined) throw error
  return (results ?? []).map((result) => result.migrationName)
}

/** Has anybody made Purser's schema in this database? */
export async function hasSchema(database: Database): Promise<boolean> {
  const { rows } = await sql<{ known: boolean }>`
    select to_regclass('kysely_migration') is not null as known`.execute(database)
  return rows[0]?.known === true
}
