import type { Logger } from 'pino'
import type { Hex } from 'viem'
import type { NodeClient } from '../chain/nodeClient.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import { fromHex, keccak } from '../evm/index.js'
import { compareOnNode, type NodeComparison } from './check/compareOnNode.js'
import type { RuleSettings } from './checkRules.js'
import { createDoubts } from './createDoubts.js'
import type { Engine, ObservedRecord, StateOverride, Validation } from './engine.js'
import { applyRules } from './erc7562/index.js'

/** The end of a comparison; `skipped`: too many were under way. */
export type Compared = NodeComparison['outcome'] | 'skipped'

export type NodeWatchContext = {
  readonly node: NodeClient
  /** An engine that reads the newest state for each validation. */
  readonly newestEngine: Pick<Engine, 'validate'>
  /** The share (0 to 1) of validations that is compared although all their code is known. */
  readonly share: number
  /** Called for each comparison that was due. */
  readonly onCompared: (outcome: Compared) => void
  /** The rules: an operation that breaks one is refused, so its validation need not be right. */
  readonly rules: Pick<RuleSettings, 'limits' | 'stakePolicy'>
  readonly logger: Logger
}

export type NodeWatch = {
  /** Compares one validation of our EVM with the node, when it is due. Does not wait for it. */
  compare(
    entryPoint: EntryPoint,
    op: Operation,
    validation: Validation,
    override?: StateOverride,
  ): void
  /** Whether the node is to be believed about this validation, because it runs the code otherwise. */
  isDoubted(validation: Validation): boolean
}

/** Comparisons under way at most: the node's other work must not wait for them. */
const AT_ONCE = 4

/**
 * A watch that compares validations of our EVM with the node in the background: all that use code which
 * was not compared before, and a share of the others, if they break no rule. A difference is compared once
 * more on state that is read anew, as a development chain changes state without a block; only a second
 * difference counts. The code is then doubted (see `createDoubts`).
 */
export function createNodeWatch(context: NodeWatchContext): NodeWatch {
  const { node, newestEngine, rules, share, onCompared, logger } = context
  const doubts = createDoubts(Date.now)
  let underWay = 0

  async function compareInBackground(
    ...[entryPoint, op, validation, override]: Subject
  ): Promise<void> {
    const first = await compareOnNode(node, entryPoint, op, validation, override)
    const { comparison, blockHash } =
      first.outcome === 'differs'
        ? await compareAgain(entryPoint, op, override)
        : { comparison: first, blockHash: validation.observed.blockHash }
    onCompared(comparison.outcome)
    const place = { entryPoint: entryPoint.address, operation: toJson(op), override, blockHash }
    if (comparison.outcome === 'differs') {
      logger.error({ ...place, ...comparison }, 'our EVM DIFFERS from the node')
      doubts.differs(entryPoint.address, validation.observed.codeHashes)
    } else if (comparison.outcome === 'unanswered') {
      logger.debug({ ...place, ...comparison }, 'the node cannot be compared with')
    } else doubts.agrees(validation.observed.codeHashes)
  }

  async function compareAgain(entryPoint: EntryPoint, op: Operation, override?: StateOverride) {
    const result = await newestEngine.validate(entryPoint, op, override)
    if (!result.ok || !isRecorded(result.validation)) {
      const reason = 'it is refused by now'
      return { comparison: { outcome: 'unanswered', reason } as const, blockHash: undefined }
    }
    const { validation } = result
    const comparison = await compareOnNode(node, entryPoint, op, validation, override)
    return { comparison, blockHash: validation.observed.blockHash }
  }

  return {
    compare(entryPoint, op, validation, override) {
      if (validation.accountSignatureFailed || validation.paymasterSignatureFailed) return
      if (!isRecorded(validation)) return
      const { observed } = validation
      const isDue =
        doubts.isDue(observed.codeHashes) || isSampled(entryPoint.encodeOperation(op), share)
      if (!isDue) return
      if (applyRules({ ...observed, entryPoint, op, ...rules }).violations.length > 0) return
      if (underWay >= AT_ONCE) return onCompared('skipped')
      underWay++
      compareInBackground(entryPoint, op, validation, override)
        .catch((error) => {
          onCompared('unanswered')
          logger.debug({ err: error }, 'the node cannot be compared with')
        })
        .finally(() => {
          underWay--
        })
    },
    isDoubted: (validation) =>
      isRecorded(validation) && doubts.isDoubted(validation.observed.codeHashes),
  }
}

type RecordedValidation = Validation & { readonly observed: ObservedRecord }

type Subject = [EntryPoint, Operation, RecordedValidation, StateOverride | undefined]

function isRecorded(validation: Validation): validation is RecordedValidation {
  return validation.observed.kind === 'record'
}

/** Whether this operation is among the `share` (0 to 1) of all: by its hash, so the same everywhere. */
export function isSampled(encoded: Hex, share: number): boolean {
  const hash = keccak(fromHex(encoded))
  return new DataView(hash.buffer, hash.byteOffset).getUint32(0) < share * 2 ** 32
}

/** The operation with decimal strings for its bigints, as JSON can hold it. */
function toJson(op: Operation): unknown {
  return JSON.parse(
    JSON.stringify(op, (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
  )
}
