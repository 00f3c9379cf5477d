import type { Insertable, Selectable } from 'kysely'
import type { Address } from 'viem'
import type { Database } from './database.js'
import type { Schema } from './schema.js'

/** An app's paymaster on one chain and EntryPoint. `signer_key` is encrypted. */
export type StoredTank = Selectable<Schema['tanks']>
export type NewTank = Omit<Insertable<Schema['tanks']>, 'id' | 'created_at'>

export const findTank = (
  db: Database,
  appId: string,
  chainId: number,
  entryPoint: Address,
): Promise<StoredTank | undefined> =>
  db
    .selectFrom('tanks')
    .selectAll()
    .where('app_id', '=', appId)
    .where('chain_id', '=', BigInt(chainId))
    .where('entry_point', '=', entryPoint)
    .executeTakeFirst()

/** Stores the tank and returns it, or the one that the app has there already. */
export const insertTank = async (db: Database, tank: NewTank): Promise<StoredTank> => {
  const inserted = await db
    .insertInto('tanks')
    .values(tank)
    .onConflict((conflict) => conflict.columns(['app_id', 'chain_id', 'entry_point']).doNothing())
    .returningAll()
    .executeTakeFirst()
  if (inserted !== undefined) return inserted
  return db
    .selectFrom('tanks')
    .selectAll()
    .where('app_id', '=', tank.app_id)
    .where('chain_id', '=', tank.chain_id)
    .where('entry_point', '=', tank.entry_point)
    .executeTakeFirstOrThrow()
}
