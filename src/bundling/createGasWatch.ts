import type { Logger } from 'pino'
import type { Address, Hex } from 'viem'
import { Lru } from '../base/lru.js'
import type { NodeClient } from '../chain/nodeClient.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import { toHex } from '../evm/index.js'
import type { Database } from '../store/database.js'
import { readEntityFacts, throttleEntity } from '../store/pool/reputations.js'
import {
  type EntityGas,
  gasInBundle,
  gasOfStaked,
  savers,
  type Verdict,
} from '../validation/erc7562/index.js'
import { traceMined } from '../validation/traceMined.js'
import { findTracer, type Tracer } from '../validation/tracer.js'

/** The result of comparing a mined bundle; `skipped`: too many comparisons were under way. */
export type GasCompared = 'fair' | 'saved' | 'unanswered' | 'skipped'

export type GasWatchContext = {
  readonly chainId: number
  readonly node: NodeClient
  readonly database: Database
  readonly logger: Logger
  readonly onGasCompared: (outcome: GasCompared) => void
}

/** A bundle of ours that was mined. */
export type MinedBundle = {
  readonly transactionHash: Hex
  readonly entryPoint: EntryPoint
  /** Its operations, in their order. */
  readonly hashes: readonly Hex[]
}

export type GasWatch = {
  /** Remembers the gas that an operation's staked entities used in its second validation. */
  note(hash: Hex, entities: Verdict['entities']): void
  /** Compares a mined bundle with the noted gas, in the background; each operation only once. */
  compare(bundle: MinedBundle): void
}

/** Operations with staked entities that are remembered at most. A restart forgets them. */
const MAX_OPERATIONS = 16_384
/** Bundles that are compared at a time: the node's other work must not wait for them. */
const MAX_COMPARISONS = 2

/**
 * EREP-070: throttles staked entities that used over 10 % less gas of validation in a bundle on the chain
 * than in the second validation just before. The node traces the transaction; where it cannot, no entity
 * is throttled. Bundling never waits for it, and its failures only reach the log.
 */
export function createGasWatch(context: GasWatchContext): GasWatch {
  const { node, logger, onGasCompared } = context
  const noted = new Lru<Hex, EntityGas>(MAX_OPERATIONS)
  let tracer: Tracer | undefined
  let underWay = 0

  function take(hash: Hex): EntityGas {
    const gas = noted.get(hash) ?? noGas
    if (gas.size > 0) noted.set(hash, noGas)
    return gas
  }

  async function compareGas(
    { transactionHash, entryPoint }: MinedBundle,
    second: readonly EntityGas[],
  ): Promise<GasCompared> {
    tracer ??= await findTracer(node, entryPoint)
    if (tracer === undefined) return 'unanswered'
    const root = await traceMined(node, tracer, entryPoint, transactionHash)
    const ops = entryPoint.decodeHandleOps(toHex(root.input))
    if (ops?.length !== second.length) return 'unanswered'
    const used = gasInBundle(entryPoint, ops, root)
    const saversByOperation = second.map((validated, i) => savers(validated, used[i] ?? noGas))
    const entities = [...new Set(saversByOperation.flat())]
    for (const address of entities) {
      const first = saversByOperation.findIndex((addresses) => addresses.includes(address))
      const gas = { validated: second[first]?.get(address), inBundle: used[first]?.get(address) }
      await throttle(context, entryPoint.address, address, { transactionHash, ...gas })
    }
    return entities.length === 0 ? 'fair' : 'saved'
  }

  return {
    note(hash, entities) {
      const gas = gasOfStaked(entities)
      if (gas.size > 0) noted.set(hash, gas)
    },
    compare(bundle) {
      const second = bundle.hashes.map(take)
      if (second.every(({ size }) => size === 0)) return
      if (underWay >= MAX_COMPARISONS) return onGasCompared('skipped')
      underWay++
      compareGas(bundle, second)
        .catch((error: unknown): GasCompared => {
          logger.debug({ err: error }, 'the gas of a mined bundle cannot be compared')
          return 'unanswered'
        })
        .then(onGasCompared)
        .finally(() => {
          underWay--
        })
    },
  }
}

const noGas: EntityGas = new Map()

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
  logger.warn({ ...entity, ...facts }, 'an entity is throttled: in a bundle it used less gas')
}
