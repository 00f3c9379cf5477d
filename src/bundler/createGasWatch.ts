import type { Logger } from 'pino'
import type { Address, Hex } from 'viem'
import { Lru } from '../base/lru.js'
import type { ChainMetrics } from '../base/metrics/metrics.js'
import type { Database } from '../db/database.js'
import { type EntityGas, savers } from '../erc4337/rules/index.js'
import { readEntityFacts, throttleEntity } from '../mempool/pool/reputations.js'
import type { MinedBundle } from './minedBundle.js'

/** The result of comparing a mined bundle; `skipped`: enough were compared recently. */
type GasCompared = 'fair' | 'saved' | 'unanswered' | 'skipped'

type GasWatchContext = {
  readonly chainId: number
  readonly database: Database
  /** Milliseconds, never less than before. */
  readonly now: () => number
  readonly logger: Logger
  readonly metrics: ChainMetrics
}

export type GasWatch = ReturnType<typeof createGasWatch>

/** Operations with staked entities that are remembered at most. A restart forgets them. */
const MAX_OPERATIONS = 16_384
/**
 * Bundles that are compared in a minute at most, one at a time: each takes some batches of reads of the node
 * and a thread for up to a second. What is compared too rarely to be caught at once is caught later.
 */
const COMPARED_PER_MINUTE = 20
/** Milliseconds after which one more may be compared. */
const INTERVAL = 60_000 / COMPARED_PER_MINUTE

/**
 * EREP-070: throttles staked entities that used over 10 % less gas of validation in a bundle on the chain
 * than in the second validation just before. A sample of the bundles is run again in our EVM; one that does not do
 * there what it did on the chain throttles nobody. Bundling never waits for it, and its failures only reach the log.
 */
export function createGasWatch(context: GasWatchContext) {
  const { logger, now, metrics } = context
  const noted = new Lru<Hex, EntityGas>(MAX_OPERATIONS)
  const count = (outcome: GasCompared): void =>
    metrics.count('purser_bundle_gas_compared_total', { outcome })
  let isComparing = false
  /** The time at which the whole minute's allowance will be there again. */
  let filledAt = now()

  function take(hash: Hex): EntityGas {
    const gas = noted.get(hash) ?? noGas
    if (gas.size > 0) noted.set(hash, noGas)
    return gas
  }

  function mayCompare(): boolean {
    const next = Math.max(filledAt, now()) + INTERVAL
    if (isComparing || next > now() + 60_000) return false
    filledAt = next
    return true
  }

  return {
    /** Remembers the gas that an operation's staked entities used in its second validation. */
    note(hash: Hex, gas: EntityGas): void {
      if (gas.size > 0) noted.set(hash, gas)
    },
    /** Compares a mined bundle with the noted gas, in the background; each operation only once. */
    compare(bundle: MinedBundle) {
      const { receipt, entryPoint } = bundle
      const outcomes = entryPoint.decodeOutcomes(receipt.logs)
      const second = outcomes.map(({ userOpHash }) => take(userOpHash))
      if (second.every(({ size }) => size === 0)) return
      if (!mayCompare()) return count('skipped')
      isComparing = true
      compareGas(context, bundle, second)
        .catch((error: unknown): GasCompared => {
          logger.debug({ err: error }, 'the gas of a mined bundle could not be checked')
          return 'unanswered'
        })
        .then((outcome) => {
          isComparing = false
          count(outcome)
        })
    },
  }
}

const noGas: EntityGas = new Map()

/** @param second the gas of each operation's staked entities in its second validation */
async function compareGas(
  context: GasWatchContext,
  { receipt: { transactionHash }, entryPoint, again }: MinedBundle,
  second: readonly EntityGas[],
): Promise<GasCompared> {
  const run = await again()
  const used = typeof run === 'string' ? undefined : run.used
  // The gas of an operation holds all of its validation, so one that other transactions of its block changed differs.
  if (used === undefined) return 'unanswered'
  const saversByOperation = second.map((validated, i) => savers(validated, used[i] ?? noGas))
  const entities = [...new Set(saversByOperation.flat())]
  for (const address of entities) {
    const first = saversByOperation.findIndex((addresses) => addresses.includes(address))
    const gas = { validated: second[first]?.get(address), inBundle: used[first]?.get(address) }
    await throttle(context, entryPoint.address, address, { transactionHash, ...gas })
  }
  return entities.length === 0 ? 'fair' : 'saved'
}

async function throttle(
  { chainId, database, logger }: GasWatchContext,
  entryPoint: Address,
  address: Address,
  facts: object,
): Promise<void> {
  const entity = { entryPoint, address }
  const [reputation] = await readEntityFacts(database, chainId, [entity])
  if (reputation?.trusted) return
  await throttleEntity(database, chainId, entity)
  logger.warn(
    { ...entity, ...facts },
    'an entity is throttled: it used less gas in a bundle than in validation',
  )
}
