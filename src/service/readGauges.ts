import type { Reading } from '../base/metrics/metrics.js'
import { lastIndexed } from '../bundler/outbox/chainBlocks.js'
import type { NodeState } from '../chain/nodeClient.js'
import { connectionUse, type Database } from '../db/database.js'
import { poolSizes } from '../mempool/pool/bounds.js'
import type { FundLevel } from '../paymaster/watchFunds.js'
import { type ChainHealth, waitOf, within } from './checkReadiness.js'

/** The parts of a running chain that have gauges. */
export type GaugedChain = {
  readonly health: ChainHealth
  readonly nodes: () => readonly Pick<NodeState, 'host' | 'pausedUntil' | 'otherChain'>[]
  /** The tanks and credits that this process watches, as they were at the last look. */
  readonly funds: () => readonly FundLevel[]
}

type GaugeSources = {
  readonly database: Database
  readonly running: ReadonlyMap<number, GaugedChain>
  readonly away: ReadonlyMap<number, unknown>
}

/** Seconds. */
const DAY = 86_400
/** Funds of one chain that have gauges: tenants make as many apps as they may. */
const MOST_FUNDS = 100

/**
 * All gauges at the moment of a scrape. Parts that do not answer in time are left out: a scrape shows what is
 * known while the database or a node is away.
 */
export async function readGauges({
  database,
  running,
  away,
}: GaugeSources): Promise<readonly Reading[]> {
  const [pool, indexed, chains] = await Promise.all([
    within(poolSizes(database), undefined),
    within(lastIndexed(database), undefined),
    Promise.all([...running].map(([chainId, chain]) => chainReadings(String(chainId), chain))),
  ])
  const { used, waiting } = connectionUse(database)
  return [
    ...poolReadings(running, pool),
    ...lagReadings(running, indexed),
    ...chains.flat(),
    ...[...away.keys()].map((chainId) => served(String(chainId), 0)),
    { name: 'purser_db_pool_used', labels: {}, value: used },
    { name: 'purser_db_pool_waiting', labels: {}, value: waiting },
  ]
}

function served(chain: string, value: 0 | 1): Reading {
  return { name: 'purser_chain_served', labels: { chain }, value }
}

/** An empty pool has the value 0; nothing is said while the database is away. */
function poolReadings(
  running: GaugeSources['running'],
  sizes: Awaited<ReturnType<typeof poolSizes>> | undefined,
): Reading[] {
  if (sizes === undefined) return []
  return [...running.keys()].flatMap((chainId) =>
    (['pooled', 'bundled'] as const).map((state): Reading => {
      const chain = String(chainId)
      const size = sizes.find((each) => each.chain === chain && each.state === state)
      const value = size?.operations ?? 0
      return { name: 'purser_pool_operations', labels: { chain, state }, value }
    }),
  )
}

/** Without an indexed block there is nothing to lag behind. */
function lagReadings(
  running: GaugeSources['running'],
  indexed: ReadonlyMap<number, bigint> | undefined,
): Reading[] {
  return [...running].flatMap(([chainId, { health }]): Reading[] => {
    const last = indexed?.get(chainId)
    if (last === undefined) return []
    const lag = Math.max(0, Number(health.head().number - last))
    return [{ name: 'purser_index_lag_blocks', labels: { chain: String(chainId) }, value: lag }]
  })
}

async function chainReadings(
  chain: string,
  { health, nodes, funds }: GaugedChain,
): Promise<Reading[]> {
  const executors = await within(health.executors(), [])
  const isWaiting = (await waitOf(health)) !== undefined
  const { number, age } = health.head()
  const next = health.coming()
  const labels = { chain }
  return [
    served(chain, 1),
    { name: 'purser_head_age_seconds', labels, value: age / 1_000 },
    { name: 'purser_head_block', labels, value: Number(number) },
    { name: 'purser_lease_held', labels, value: health.leads() ? 1 : 0 },
    ...(health.ceilingWait
      ? [{ name: 'purser_fee_ceiling_reached', labels, value: isWaiting ? 1 : 0 } as const]
      : []),
    ...(next
      ? [
          {
            name: 'purser_fork_time_seconds',
            labels: { chain, fork: next.fork },
            value: next.activation,
          } as const,
        ]
      : []),
    ...nodes().map(
      ({ host: node, pausedUntil, otherChain }): Reading => ({
        name: 'purser_node_paused',
        labels: { chain, node },
        value: (pausedUntil ?? otherChain) === undefined ? 0 : 1,
      }),
    ),
    ...executors.flatMap(({ address: executor, role, balance, inFlight, state }): Reading[] => [
      {
        name: 'purser_executor_balance_wei',
        labels: { chain, executor },
        value: Number(balance),
      },
      { name: 'purser_executor_in_flight', labels: { chain, executor }, value: inFlight },
      {
        name: 'purser_executor_ready',
        labels: { chain, executor, role },
        value: state === 'paused' ? 0 : 1,
      },
    ]),
    ...fundReadings(chain, funds()),
  ]
}

/** The lowest level of each app, of those that end first. */
function fundReadings(chain: string, levels: readonly FundLevel[]): Reading[] {
  const daysOf = ({ days, low }: FundLevel) => (low ? -1 : (days ?? Number.POSITIVE_INFINITY))
  const lowest = new Map<string, FundLevel>()
  const sorted = levels
    .filter(({ hasAlert }) => hasAlert)
    .sort((a, b) => daysOf(a) - daysOf(b) || Number(a.available - b.available))
  for (const level of sorted) {
    const app = level.appId ?? 'operator'
    if (!lowest.has(app) && lowest.size < MOST_FUNDS) lowest.set(app, level)
  }
  return [...lowest].flatMap(([app, { available, days, low }]): Reading[] => [
    { name: 'purser_tank_available_wei', labels: { chain, app }, value: Number(available) },
    { name: 'purser_tank_low', labels: { chain, app }, value: low ? 1 : 0 },
    ...(days === undefined
      ? []
      : [
          {
            name: 'purser_tank_runway_seconds' as const,
            labels: { chain, app },
            value: days * DAY,
          },
        ]),
  ])
}
