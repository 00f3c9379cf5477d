import { createRecent } from '../base/createRecent.js'
import type { Head } from '../chain/head.js'
import type { HeadFollower } from '../chain/headFollower.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { getBlock } from '../chain/nodeReads.js'
import type { Database } from '../db/database.js'
import { createDeposits, depositOf } from './entryPointDeposit.js'
import { recentSpending } from './ledger/funds.js'
import { lockedAt } from './ledger/payers.js'
import type { StoredTank } from './ledger/tanks.js'
import { type Runway, runwayOf } from './runway.js'

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

/** Milliseconds for which a remembered level stands: a chain with quick blocks is asked no more often. */
const LEVEL_AGE = 2_000

/** The level of a tank in the newest block, by two questions to the node. */
export async function tankLevel(context: LevelContext, tank: StoredTank): Promise<TankLevel> {
  const head = await getBlock(context.node, 'latest')
  if (head === undefined) throw new Error('the node has no newest block')
  return levelAt(context, tank, head, depositOf(context.node, ...payerOf(tank), head.number))
}

/**
 * A reader of levels at the head that `heads` knows, for any number of callers. The node is asked for the deposit of a tank once per head and at most once per `LEVEL_AGE`;
 * a failure stands as long. What is reserved is as of that look.
 */
export function createTankLevels(
  context: LevelContext & { readonly heads: Pick<HeadFollower, 'current'> },
): (tank: StoredTank) => Promise<TankLevel> {
  const depositAt = createDeposits(context.node)
  const recent = createRecent<TankLevel>(LEVEL_AGE)
  return (tank) =>
    recent(tank.id, () => {
      const head = context.heads.current()
      return levelAt(context, tank, head, depositAt(head, ...payerOf(tank)))
    })
}

function payerOf({ entry_point: entryPoint, address }: StoredTank) {
  return [entryPoint, address] as const
}

async function levelAt(
  { database, chainId }: LevelContext,
  { entry_point: entryPoint, address, app_id: appId }: StoredTank,
  { number: blockNumber, timestamp }: Head,
  atHead: Promise<bigint>,
): Promise<TankLevel> {
  const payer = { chainId, entryPoint, paymaster: address }
  const [deposit, [locked = 0n], spending] = await Promise.all([
    atHead,
    lockedAt(database, payer, [{ blockNumber, timestamp }]),
    recentSpending(database, { chainId, payer: { appId, paymaster: address } }),
  ])
  return { deposit, locked, runway: runwayOf(deposit - locked, spending) }
}
