import type { NodeClient } from '../../chain/nodeClient.js'
import { getBlock } from '../../chain/nodeReads.js'
import type { Database } from '../../store/database.js'
import { recentSpending } from '../../store/ledger/funds.js'
import { lockedAt } from '../../store/ledger/payers.js'
import type { StoredTank } from '../../store/ledger/tanks.js'
import { depositOf } from '../entryPointDeposit.js'
import { type Runway, runwayOf, SPENDING_DAYS } from '../runway.js'

/** The money of a tank and the time for which it lasts. */
export type TankLevel = {
  /** wei in the EntryPoint */
  readonly deposit: bigint
  /** wei of it that are reserved for sponsorships */
  readonly locked: bigint
  readonly runway: Runway
}

type LevelContext = {
  readonly database: Database
  readonly node: NodeClient
  readonly chainId: number
}

/** The level of a tank in the newest block. */
export async function tankLevel(
  { database, node, chainId }: LevelContext,
  { entry_point: entryPoint, address, app_id: appId }: StoredTank,
): Promise<TankLevel> {
  const head = await getBlock(node, 'latest')
  if (head === undefined) throw new Error('the node has no newest block')
  const { number: blockNumber, timestamp } = head
  const payer = { chainId, entryPoint, paymaster: address }
  const [deposit, [locked = 0n], spending] = await Promise.all([
    depositOf(node, entryPoint, address, blockNumber),
    lockedAt(database, payer, [{ blockNumber, timestamp }]),
    recentSpending(database, { chainId, appId, paymaster: address }, SPENDING_DAYS),
  ])
  return { deposit, locked, runway: runwayOf(deposit - locked, spending) }
}
