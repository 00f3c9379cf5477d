import type { Insertable, Selectable } from 'kysely'
import type { Address } from 'viem'
import type { Database } from '../../db/database.js'
import type { Schema } from '../../db/schema.generated.js'
import { liveApps } from '../../tenants/apps.js'
import { findRow, findRows } from '../../tenants/resource.js'
import type { Payer } from './reservations.js'

/** The use of a tank: `gas` pays for operations as a gift, `token` takes tokens for it. */
export type TankKind = Schema['tanks']['kind']

/** A paymaster on one chain and EntryPoint: an app's, or the operator's (app_id null). `signer_key` is encrypted. */
export type StoredTank = Selectable<Schema['tanks']>
type NewTank = Omit<Insertable<Schema['tanks']>, 'id' | 'created_at'>

const tanks = { table: 'tanks' } as const

export function findTank(
  db: Database,
  appId: string | null,
  chainId: number,
  entryPoint: Address,
  kind: TankKind,
): Promise<StoredTank | undefined> {
  const place = { app_id: appId, chain_id: BigInt(chainId), entry_point: entryPoint, kind }
  return findRow(db, tanks, place)
}

/** Stores the tank and returns it, or the one that its app has there already. */
export async function insertTank(db: Database, tank: NewTank): Promise<StoredTank> {
  const inserted = await db
    .insertInto('tanks')
    .values(tank)
    .onConflict((conflict) => conflict.doNothing())
    .returningAll()
    .executeTakeFirst()
  if (inserted !== undefined) return inserted
  const { app_id: appId, chain_id: chainId, entry_point: entryPoint, kind } = tank
  const storedTank = await findTank(db, appId ?? null, Number(chainId), entryPoint, kind)
  if (storedTank === undefined)
    throw new Error('a tank without app, chain and EntryPoint of its own')
  return storedTank
}

/** Gives the tank's app another contract in its place; the row, and with it the alert, stays. */
export function replaceTank(
  db: Database,
  { chainId, entryPoint, address }: Pick<Payer, 'chainId' | 'entryPoint'> & { address: Address },
  made: Pick<NewTank, 'address' | 'owner' | 'signer' | 'signer_key'>,
): Promise<StoredTank> {
  return db
    .updateTable('tanks')
    .set(made)
    .where('chain_id', '=', BigInt(chainId))
    .where('entry_point', '=', entryPoint)
    .where('address', '=', address)
    .returningAll()
    .executeTakeFirstOrThrow()
}

/** The tanks of a chain, but for those of apps that ended. */
export function listTanks(db: Database, chainId: number): Promise<StoredTank[]> {
  return db
    .selectFrom('tanks')
    .selectAll()
    .where('chain_id', '=', BigInt(chainId))
    .where(({ or, eb }) =>
      or([eb('app_id', 'is', null), eb('app_id', 'in', liveApps(db).select('apps.id'))]),
    )
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** The kind of this paymaster; undefined = it is no tank of ours. */
export async function kindOfTank(
  db: Database,
  chainId: number,
  entryPoint: Address,
  address: Address,
): Promise<TankKind | undefined> {
  const place = { chain_id: BigInt(chainId), entry_point: entryPoint, address }
  return (await findRow(db, tanks, place))?.kind
}

/** All tanks of an app. */
export function listTanksOfApp(db: Database, appId: string): Promise<StoredTank[]> {
  return findRows(db, tanks, { app_id: appId })
}

/** All tanks of the apps of an account that have not ended. */
export function listTanksOfAccount(db: Database, accountId: string): Promise<StoredTank[]> {
  return liveApps(db)
    .innerJoin('tanks', 'tanks.app_id', 'apps.id')
    .selectAll('tanks')
    .where('apps.account_id', '=', accountId)
    .orderBy('tanks.created_at')
    .execute()
}

export function findTankById(
  db: Database,
  appId: string,
  id: string,
): Promise<StoredTank | undefined> {
  return findRow(db, tanks, { app_id: appId, id })
}
