import { type Selectable, sql } from 'kysely'
import type { Database, Transaction } from '../database.js'
import type { Schema } from '../schema.js'
import { isUuid } from '../uuid.js'

export type StoredDashboard = Selectable<Schema['dashboards']>
export type StoredRule = Selectable<Schema['dashboard_rules']>
export type RuleKind = StoredRule['kind']

/** Locks the app's dashboard, which is made where missing: no other transaction changes its rules. */
export async function lockDashboard(trx: Transaction, appId: string): Promise<StoredDashboard> {
  await trx
    .insertInto('dashboards')
    .values({ app_id: appId, chain_id: null, policy_id: null })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
  return trx
    .selectFrom('dashboards')
    .selectAll()
    .where('app_id', '=', appId)
    .forUpdate()
    .executeTakeFirstOrThrow()
}

export async function setDashboard(
  trx: Transaction,
  appId: string,
  change: Partial<Pick<StoredDashboard, 'chain_id' | 'policy_id'>>,
): Promise<void> {
  await trx.updateTable('dashboards').set(change).where('app_id', '=', appId).execute()
}

/** Live apps of the account with the chain that each was made for. */
export async function listDashboards(
  db: Database,
  accountId: string,
): Promise<readonly { readonly name: string; readonly chainId: number | null }[]> {
  const rows = await db
    .selectFrom('apps as a')
    .leftJoin('dashboards as d', 'd.app_id', 'a.id')
    .select(['a.name', 'd.chain_id'])
    .where('a.account_id', '=', accountId)
    .where('a.revoked_at', 'is', null)
    .orderBy('a.created_at')
    .execute()
  return rows.map(({ name, chain_id }) => ({
    name,
    chainId: chain_id === null ? null : Number(chain_id),
  }))
}

/** The rules of an app's dashboard, the oldest first. */
export function listRules(db: Database, appId: string): Promise<StoredRule[]> {
  return db
    .selectFrom('dashboard_rules')
    .selectAll()
    .where('app_id', '=', appId)
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** The number of an app's rules, and the bytes of their data. */
export async function measureRules(
  trx: Transaction,
  appId: string,
): Promise<{ readonly count: number; readonly bytes: number }> {
  const { rows } = await sql<{ count: bigint; bytes: bigint }>`
    select count(*) as count, coalesce(sum(octet_length(data::text)), 0)::bigint as bytes
    from dashboard_rules where app_id = ${appId}`.execute(trx)
  return { count: Number(rows[0]?.count), bytes: Number(rows[0]?.bytes) }
}

export function insertRule(
  trx: Transaction,
  rule: Pick<StoredRule, 'app_id' | 'kind' | 'name' | 'data'>,
): Promise<StoredRule> {
  return trx
    .insertInto('dashboard_rules')
    .values({ ...rule, data: JSON.stringify(rule.data) })
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** @returns undefined when the app has no such rule */
export async function updateRule(
  trx: Transaction,
  appId: string,
  id: string,
  { data, ...change }: Partial<Pick<StoredRule, 'name' | 'active' | 'data'>>,
): Promise<StoredRule | undefined> {
  return isUuid(id)
    ? trx
        .updateTable('dashboard_rules')
        .set({ ...change, ...(data !== undefined && { data: JSON.stringify(data) }) })
        .where('app_id', '=', appId)
        .where('id', '=', id)
        .returningAll()
        .executeTakeFirst()
    : undefined
}

export async function deleteRule(trx: Transaction, appId: string, id: string): Promise<void> {
  await sql`delete from dashboard_rules where app_id = ${appId} and id = ${id}`.execute(trx)
}
