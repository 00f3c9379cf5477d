import { sql } from 'kysely'
import type { Database, Transaction } from '../database.js'

/** An encrypted secret, and the object that is lost with it. */
export type StoredSecret = {
  readonly kind: 'tank' | 'webhook' | 'subscription'
  readonly id: string
  readonly appId: string | null
  /** Of a tank: its chain, EntryPoint, address and owner; else the URL alone. */
  readonly detail: {
    readonly chainId?: number
    readonly entryPoint?: string
    readonly tankKind?: string
    readonly address?: string
    readonly owner?: string
    readonly url?: string
  }
  readonly secret: Buffer
}

/** All secrets that the master key encrypts, of live and of revoked apps, the oldest first. */
export async function listStoredSecrets(db: Database): Promise<readonly StoredSecret[]> {
  const { rows } = await sql<StoredSecret>`
    select kind, id, "appId", detail, secret from (
      select 'tank' as kind, id, app_id as "appId", created_at, signer_key as secret,
        jsonb_build_object('chainId', chain_id, 'entryPoint', entry_point, 'tankKind', kind,
          'address', address, 'owner', owner) as detail
      from tanks
      union all
      select 'webhook', id, app_id, created_at, secret, jsonb_build_object('url', url) from webhooks
      union all
      select 'subscription', id, app_id, created_at, secret, jsonb_build_object('url', url)
      from event_subscriptions
    ) as secrets order by created_at, id`.execute(db)
  return rows
}

/** One encrypted secret of a row; a webhook or subscription may have two. */
export type SecretColumn = Pick<StoredSecret, 'kind' | 'id' | 'secret'> & {
  readonly column: 'signer_key' | 'secret' | 'previous_secret'
}

const secretColumns = [
  ['tank', 'tanks', 'signer_key'],
  ['webhook', 'webhooks', 'secret'],
  ['webhook', 'webhooks', 'previous_secret'],
  ['subscription', 'event_subscriptions', 'secret'],
  ['subscription', 'event_subscriptions', 'previous_secret'],
] as const

const tableOf = { tank: 'tanks', webhook: 'webhooks', subscription: 'event_subscriptions' } as const

/** All that the master key encrypts, also secrets that were replaced; nobody changes them until the transaction ends. */
export async function lockSecretColumns(trx: Transaction): Promise<readonly SecretColumn[]> {
  // Rows that are inserted meanwhile would be missed: readers go on, writers wait.
  await sql`lock table tanks, webhooks, event_subscriptions in share row exclusive mode`.execute(
    trx,
  )
  const found: SecretColumn[] = []
  for (const [kind, table, column] of secretColumns) {
    const { rows } = await sql<{ id: string; secret: Buffer }>`
      select id, ${sql.ref(column)} as secret from ${sql.table(table)}
      where ${sql.ref(column)} is not null order by id for update`.execute(trx)
    found.push(...rows.map(({ id, secret }) => ({ kind, id, column, secret })))
  }
  return found
}

/** Stores a secret in another encryption. */
export async function replaceSecret(
  trx: Transaction,
  { kind, id, column }: SecretColumn,
  secret: Buffer,
): Promise<void> {
  await sql`update ${sql.table(tableOf[kind])} set ${sql.ref(column)} = ${secret}
    where id = ${id}`.execute(trx)
}

/** Key of the advisory lock of those who look at or write the check value; spells "key". */
const LOCK = 0x6b6579n

/** Keeps every other process from writing a check value until the transaction ends. */
export async function lockKeyCheck(trx: Transaction): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK})`.execute(trx)
}

/** The check value of the master key; undefined = none was stored yet. */
export async function findKeyCheck(db: Database): Promise<Buffer | undefined> {
  const row = await db.selectFrom('master_key').select('check_value').executeTakeFirst()
  return row?.check_value
}

/** Stores the check value, in place of an earlier one. */
export async function putKeyCheck(db: Database, checkValue: Buffer): Promise<void> {
  await db
    .insertInto('master_key')
    .values({ check_value: checkValue })
    .onConflict((conflict) =>
      conflict.column('one').doUpdateSet({ check_value: checkValue, since: new Date() }),
    )
    .execute()
}

/** Is there an account, live or revoked? */
export async function hasAccounts(db: Database): Promise<boolean> {
  return (await db.selectFrom('accounts').select('id').limit(1).executeTakeFirst()) !== undefined
}
