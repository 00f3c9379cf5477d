import type { Logger } from 'pino'
import type { Hex } from 'viem'
import { Lru } from '../base/lru.js'
import type { NodeClient } from '../chain/nodeClient.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import { fromHex, keccak } from '../evm/index.js'
import { compareOnNode, type NodeComparison } from './check/compareOnNode.js'
import type { Engine, ObservedRun, StateOverride, Validation } from './engine.js'

/** How a comparison ended; `skipped`: too many were under way. */
export type Compared = NodeComparison['outcome'] | 'skipped'

export type NodeWatchContext = {
  readonly node: NodeClient
  /** Validates on state that is read anew. */
  readonly afresh: Pick<Engine, 'validate'>
  /** Of validations whose code is known, the share that is compared, 0 to 1. */
  readonly share: number
  readonly onCompared: (outcome: Compared) => void
  /** Hears of a difference that a second look confirmed. */
  readonly onDifference: () => void
  readonly logger: Logger
}

export type NodeWatch = {
  /** Compares one validation of our EVM with the node, when it is due. Does not wait for it. */
  see(entryPoint: EntryPoint, op: Operation, validation: Validation, override?: StateOverride): void
}

/** Hashes of code that the node was seen to run as we do. */
const CODES = 16_384
/** Comparisons under way: the node's other work must not wait for them. */
const AT_ONCE = 4

/**
 * Compares validations of our EVM with the node, in the background: all that touch code which was not
 * compared before, and a share of the others. What differs is looked at once more on state that is read
 * anew, as a development chain changes state without a block; only what differs again counts.
 */
export function createNodeWatch(context: NodeWatchContext): NodeWatch {
  const { node, afresh, share, onCompared, onDifference, logger } = context
  const codes = new Lru<Hex, true>(CODES)
  let underWay = 0

  async function compare(...[entryPoint, op, validation, override]: Subject): Promise<void> {
    const first = await compareOnNode(node, entryPoint, op, validation, override)
    const { comparison, blockHash } =
      first.outcome === 'differs'
        ? await lookAgain(entryPoint, op, override)
        : { comparison: first, blockHash: validation.observed.blockHash }
    onCompared(comparison.outcome)
    const at = { entryPoint: entryPoint.address, op: written(op), override, blockHash }
    if (comparison.outcome === 'differs') {
      logger.error({ ...at, ...comparison }, 'our EVM DIFFERS from the node')
      onDifference()
    } else if (comparison.outcome === 'unanswered') {
      logger.debug({ ...at, ...comparison }, 'the node cannot be compared with')
    } else for (const hash of validation.observed.codeHashes.values()) codes.set(hash, true)
  }

  async function lookAgain(entryPoint: EntryPoint, op: Operation, override?: StateOverride) {
    const result = await afresh.validate(entryPoint, op, override)
    if (!result.ok || !isRun(result.validation)) {
      const reason = 'it is refused by now'
      return { comparison: { outcome: 'unanswered', reason } as const, blockHash: undefined }
    }
    const { validation } = result
    const comparison = await compareOnNode(node, entryPoint, op, validation, override)
    return { comparison, blockHash: validation.observed.blockHash }
  }

  return {
    see(entryPoint, op, validation, override) {
      if (validation.accountSignatureFailed || validation.paymasterSignatureFailed) return
      if (!isRun(validation)) return
      const hashes = [...validation.observed.codeHashes.values()]
      const isNew = hashes.some((hash) => codes.get(hash) === undefined)
      if (!isNew && !isSampled(entryPoint.encodeOperation(op), share)) return
      if (underWay >= AT_ONCE) return onCompared('skipped')
      underWay++
      compare(entryPoint, op, validation, override)
        .catch((error) => {
          onCompared('unanswered')
          logger.debug({ err: error }, 'the node cannot be compared with')
        })
        .finally(() => {
          underWay--
        })
    },
  }
}

type RunValidation = Validation & { readonly observed: ObservedRun }

type Subject = [EntryPoint, Operation, RunValidation, StateOverride | undefined]

function isRun(validation: Validation): validation is RunValidation {
  return validation.observed.kind === 'run'
}

/** Whether this operation is among the `share` (0 to 1) of all: by its hash, so the same everywhere. */
export function isSampled(encoded: Hex, share: number): boolean {
  const hash = keccak(fromHex(encoded))
  return new DataView(hash.buffer, hash.byteOffset).getUint32(0) < share * 2 ** 32
}

/** As JSON can hold it. */
function written(op: Operation): unknown {
  return JSON.parse(
    JSON.stringify(op, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
  )
}
