import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { Address, Hex } from 'viem'
import { Lru } from '../base/lru.js'
import type { NodeClient } from '../chain/nodeClient.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import { toHex } from '../evm/index.js'
import { readEntityFacts, throttleEntity } from '../store/pool/reputations.js'
import type { Schema } from '../store/schema.js'
import {
  type EntityGas,
  gasInBundle,
  gasOfStaked,
  savers,
  type Verdict,
} from '../validation/erc7562/index.js'
import { traceMined } from '../validation/traceMined.js'
import { findTracer, type Tracer } from '../validation/tracer.js'

/** How the look at a mined bundle ended; `skipped`: too many were under way. */
export type GasCompared = 'fair' | 'saved' | 'unanswered' | 'skipped'

export type GasWatchContext = {
  readonly chainId: number
  readonly node: NodeClient
  readonly database: Kysely<Schema>
  readonly logger: Logger
  readonly onCompared: (outcome: GasCompared) => void
}

/** A bundle of ours that was mined. */
export type MinedBundle = {
  readonly transactionHash: Hex
  readonly entryPoint: EntryPoint
  /** Its operations, in their order. */
  readonly hashes: readonly Hex[]
}

export type GasWatch = {
  /** Remembers what an operation's staked entities used in its second validation. */
  note(hash: Hex, entities: Verdict['entities']): void
  /** Compares a bundle with what was noted, in the background; of the same operations only once. */
  see(bundle: MinedBundle): void
}

/** Operations remembered, of those with staked entities. A restart forgets them. */
const OPERATIONS = 16_384
/** Bundles looked at at a time: the node's other work must not wait for them. */
const AT_ONCE = 2

/**
 * EREP-070: throttles staked entities that used over 10 % less gas of validation in a bundle on the chain
 * than in the second validation just before. The node traces the transaction; where it cannot, nobody
 * is judged. Bundling never waits for it, and no failure of it reaches anybody but the log.
 */
export function createGasWatch(context: GasWatchContext): GasWatch {
  const { node, logger, onCompared } = context
  const noted = new Lru<Hex, EntityGas>(OPERATIONS)
  let tracer: Tracer | undefined
  let underWay = 0

  function take(hash: Hex): EntityGas {
    const gas = noted.get(hash) ?? nothing
    if (gas.size > 0) noted.set(hash, nothing)
    return gas
  }

  async function compare(
    { transactionHash, entryPoint }: MinedBundle,
    second: readonly EntityGas[],
  ): Promise<GasCompared> {
    tracer ??= await findTracer(node, entryPoint)
    if (tracer === undefined) return 'unanswered'
    const root = await traceMined(node, tracer, entryPoint, transactionHash)
    const ops = entryPoint.decodeHandleOps(toHex(root.input))
    if (ops?.length !== second.length) return 'unanswered'
    const used = gasInBundle(entryPoint, ops, root)
    const found = second.map((before, i) => savers(before, used[i] ?? nothing))
    const all = [...new Set(found.flat())]
    for (const address of all) {
      const at = found.findIndex((some) => some.includes(address))
      const gas = { validated: second[at]?.get(address), inBundle: used[at]?.get(address) }
      await throttle(context, entryPoint.address, address, { transactionHash, ...gas })
    }
    return all.length === 0 ? 'fair' : 'saved'
  }

  return {
    note(hash, entities) {
      const gas = gasOfStaked(entities)
      if (gas.size > 0) noted.set(hash, gas)
    },
    see(bundle) {
      const second = bundle.hashes.map(take)
      if (second.every(({ size }) => size === 0)) return
      if (underWay >= AT_ONCE) return onCompared('skipped')
      underWay++
      compare(bundle, second)
        .catch((error: unknown): GasCompared => {
          logger.debug({ err: error }, 'the gas of a mined bundle cannot be compared')
          return 'unanswered'
        })
        .then(onCompared)
        .finally(() => {
          underWay--
        })
    },
  }
}

const nothing: EntityGas = new Map()

async function throttle(
  { chainId, database, logger }: GasWatchContext,
  entryPoint: Address,
  address: Address,
  facts: object,
): Promise<void> {
  const named = { entryPoint, address }
  const [known] = await readEntityFacts(database, chainId, [named])
  if (known?.trusted) return
  await throttleEntity(database, chainId, named)
  logger.warn({ ...named, ...facts }, 'an entity is throttled: in a bundle it used less gas')
}
