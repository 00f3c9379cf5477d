import type { Database } from '../db/database.js'
import type { AuditChange } from '../tenants/audit.js'
import type { ContractItem } from './contractAbi.js'

/** The functions and errors of the contracts that an app calls; empty where it named none. */
export async function findAppAbi(db: Database, appId: string): Promise<readonly ContractItem[]> {
  const row = await db
    .selectFrom('app_abis')
    .select('items')
    .where('app_id', '=', appId)
    .executeTakeFirst()
  return (row?.items ?? []) as readonly ContractItem[]
}

/** The audit log has the numbers of items, as it is for ever and an ABI is long. */
export async function replaceAppAbi(
  { trx, record }: AuditChange,
  appId: string,
  items: readonly ContractItem[],
): Promise<readonly ContractItem[]> {
  const before = await findAppAbi(trx, appId)
  const row = { app_id: appId, items: JSON.stringify(items) }
  await trx
    .insertInto('app_abis')
    .values(row)
    .onConflict((conflict) => conflict.column('app_id').doUpdateSet({ items: row.items }))
    .execute()
  await record({
    action: 'app.abi',
    objectId: appId,
    appId,
    before: { items: before.length },
    after: { items: items.length },
  })
  return items
}
