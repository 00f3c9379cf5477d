import type { Logger } from 'pino'
import type { Address, Hex } from 'viem'
import { plain } from '../base/bigints.js'
import { Lru } from '../base/lru.js'
import type { ChainMetrics } from '../base/metrics/metrics.js'
import type { NodeClient } from '../chain/nodeClient.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import { applyRules, type CodeHashes } from '../erc4337/rules/index.js'
import { emptyCodeHash, type FrameRecord, fromHex, usesOpcode } from '../evm/index.js'
import type { RuleSettings } from './checkRules.js'
import type { Engine, ObservedRecord, StateOverride, Validation } from './engine.js'
import { authorizationOverride, mergeOverrides } from './evmOverrides.js'
import { validityOf } from './inProcess/simulatedOperation.js'
import { observeCalls } from './trace/traceOperation.js'
import { traceRequest } from './tracer.js'

type NodeWatchContext = {
  readonly node: NodeClient
  /** An engine that reads the newest state for each validation. */
  readonly newestEngine: Pick<Engine, 'validate'>
  /** The share (0 to 1) of validations that is compared although all their code is known. */
  readonly share: number
  readonly metrics: ChainMetrics
  /** The rules: an operation that breaks one is refused, so its validation need not be right. */
  readonly rules: Pick<RuleSettings, 'limits' | 'stakePolicy'>
  readonly logger: Logger
}

/** Comparisons under way at most: the node's other work must not wait for them. */
const AT_ONCE = 4

/**
 * A watch that compares validations of our EVM with the node in the background: all that use code which
 * was not compared before, and a share of the others, if they break no rule. A difference is compared once
 * more on state that is read anew, as a development chain changes state without a block; only a second
 * difference counts. The code is then in quarantine (see `createQuarantine`).
 */
export function createNodeWatch(context: NodeWatchContext) {
  const { node, newestEngine, rules, share, metrics, logger } = context
  const quarantine = createQuarantine(() => performance.now())
  let underWay = 0
  const count = (outcome: NodeComparison['outcome'] | 'skipped'): void =>
    metrics.count('purser_validations_compared_total', { outcome })

  async function compareInBackground(
    ...[entryPoint, op, validation, override]: Subject
  ): Promise<void> {
    const first = await compareOnNode(node, entryPoint, op, validation, override)
    const { comparison, blockHash } =
      first.outcome === 'differs'
        ? await compareAgain(entryPoint, op, override)
        : { comparison: first, blockHash: validation.observed.blockHash }
    count(comparison.outcome)
    const place = { entryPoint: entryPoint.address, operation: plain(op), override, blockHash }
    if (comparison.outcome === 'differs') {
      logger.error({ ...place, ...comparison }, 'our EVM DIFFERS from the node')
      quarantine.differs(entryPoint.address, validation.observed.codeHashes)
    } else if (comparison.outcome === 'unanswered') {
      logger.debug({ ...place, ...comparison }, 'the node cannot be compared')
    } else quarantine.agrees(validation.observed.codeHashes)
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
    /** Compares one validation of our EVM with the node, when it is due. Does not wait for it. */
    compare(
      entryPoint: EntryPoint,
      op: Operation,
      validation: Validation,
      override?: StateOverride,
    ): void {
      if (validation.accountSignatureFailed || validation.paymasterSignatureFailed) return
      if (!isRecorded(validation)) return
      const { observed } = validation
      const isDue = quarantine.isDue(observed.codeHashes) || Math.random() < share
      if (!isDue) return
      if (applyRules({ ...observed, entryPoint, op, ...rules }).violations.length > 0) return
      if (underWay >= AT_ONCE) {
        count('skipped')
        return
      }
      underWay++
      compareInBackground(entryPoint, op, validation, override)
        .catch((error) => {
          count('unanswered')
          logger.debug({ err: error }, 'the node cannot be compared')
        })
        .finally(() => {
          underWay--
        })
    },
    /** Whether the node is to be believed about a validation that uses this code, because it runs it otherwise. */
    isQuarantined: quarantine.isQuarantined,
  }
}

type RecordedValidation = Validation & { readonly observed: ObservedRecord }

type Subject = [EntryPoint, Operation, RecordedValidation, StateOverride | undefined]

function isRecorded(validation: Validation): validation is RecordedValidation {
  return validation.observed.kind === 'record'
}

/** Whether the node answers the same as our EVM; `ours` and `node` in words, for the log. */
type NodeComparison =
  | { readonly outcome: 'agrees' }
  | { readonly outcome: 'differs'; readonly ours: string; readonly node: string }
  /** The node cannot be asked, or its answer cannot be compared. */
  | { readonly outcome: 'unanswered'; readonly reason: string }

/** A call in the answer of `callTracer`, as far as it is compared. */
type TracedCall = {
  readonly to?: Hex
  readonly input: Hex
  readonly output?: Hex
  readonly error?: string
  readonly calls?: readonly TracedCall[]
}

/** Failures for which the EntryPoint ends and our EVM goes on: wrong signatures and times. */
const ignoredByUs = new Set(['AA22', 'AA24', 'AA27', 'AA32', 'AA34', 'AA37'])

/**
 * A comparison of one validation with the node, which runs the same message on the same block: gas of
 * validation, to the unit, prefund and time range. Not compared are validations that look at the block,
 * which nodes show otherwise in a call (see `seesBlock`), and those that only the EntryPoint ends.
 */
async function compareOnNode(
  node: NodeClient,
  entryPoint: EntryPoint,
  op: Operation,
  validation: Validation & { readonly observed: ObservedRecord },
  override: StateOverride = {},
): Promise<NodeComparison> {
  const { observed, verificationGasUsed, prefund, validAfter, validUntil } = validation
  if (seesBlock(observed.record.root)) return unanswered('it looks at the block')
  const request = traceRequest(entryPoint, op, {
    tracer: 'callTracer',
    block: observed.blockHash,
    fork: observed.fork,
    override: mergeOverrides(authorizationOverride(op), override),
  })
  const [answer] = await node.batch([request])
  if (!answer?.ok) return unanswered(answer?.error.message ?? 'no answer')
  const traced = answer.result as TracedCall
  const { validated, ...answers } = observeCalls(entryPoint, op, {
    calls: (traced.calls ?? []).map(decodeCall),
  })
  if (validated === undefined) {
    const failure = entryPoint.decodeFailure(traced.output ?? '0x')
    if (failure?.code !== undefined && ignoredByUs.has(failure.code))
      return unanswered(failure.message)
    const reason = failure?.message ?? traced.error ?? 'nothing'
    return { outcome: 'differs', ours: 'validation succeeds', node: reason }
  }
  const range = validityOf(entryPoint, answers)
  const gas = validated.preOpGas - op.preVerificationGas
  const ours = describe({ gas: verificationGasUsed, prefund, validAfter, validUntil })
  const theirs = describe({ gas, prefund: validated.prefund, ...range })
  return ours === theirs ? { outcome: 'agrees' } : { outcome: 'differs', ours, node: theirs }
}

function unanswered(reason: string): NodeComparison {
  return { outcome: 'unanswered', reason }
}

function decodeCall({ to, input, output = '0x', error }: TracedCall) {
  return { to, input: fromHex(input), output: fromHex(output), error }
}

type Facts = {
  readonly gas: bigint
  readonly prefund: bigint
  readonly validAfter: number
  readonly validUntil: number
}

function describe({ gas, prefund, validAfter, validUntil }: Facts): string {
  return `gas ${gas}, prefund ${prefund}, valid after ${validAfter} until ${validUntil}`
}

/** GASPRICE, BLOCKHASH to GASLIMIT, BASEFEE to BLOBBASEFEE: nodes pretend some of them in calls. */
const blockOpcodes = [0x3a, 0x40, 0x41, 0x42, 0x43, 0x44, 0x45, 0x48, 0x49, 0x4a]

/** Whether a contract below the EntryPoint, which itself only looks at time, reads block or fees. */
function seesBlock(root: FrameRecord): boolean {
  const visit = (frame: FrameRecord): boolean =>
    blockOpcodes.some((opcode) => usesOpcode(frame, opcode)) || frame.calls.some(visit)
  return root.calls.some(visit)
}

/** Hashes of code that are remembered. */
const CODES = 16_384
/** Milliseconds after which code in quarantine is compared with the node once more. */
const LOOK_AGAIN = 600_000

/**
 * The codes that the node was seen to run as our EVM does, and those that it runs otherwise (D-102). A difference
 * puts code into quarantine and never a chain: else anybody who finds one would stop the operations of all. It is
 * the code that was not seen to agree before; where all was, all but that of the EntryPoint.
 */
export function createQuarantine(now: () => number) {
  const agreed = new Lru<Hex, true>(CODES)
  /** With the time at which the code is compared again. */
  const until = new Lru<Hex, number>(CODES)

  return {
    /** Whether a comparison of this code is due although nothing asks for it. */
    isDue(codes: CodeHashes): boolean {
      const hashes = [...codes.values()]
      const times = hashes.flatMap((hash) => until.get(hash) ?? [])
      return times.length > 0
        ? times.some((lookAgainAt) => lookAgainAt <= now())
        : hashes.some((hash) => agreed.get(hash) === undefined)
    },
    /** Whether the node, and not our EVM, is to be believed about a validation that uses this code. */
    isQuarantined: (codes: CodeHashes): boolean =>
      [...codes.values()].some((hash) => until.get(hash) !== undefined),
    agrees(codes: CodeHashes): void {
      const hashes = new Set(codes.values())
      for (const hash of hashes) {
        until.delete(hash)
        agreed.set(hash, true)
      }
    },
    differs(entryPoint: Address, codes: CodeHashes): void {
      const others = [...codes].flatMap(([address, hash]) =>
        address === entryPoint || hash === emptyCodeHash ? [] : [hash],
      )
      const unknown = others.filter((hash) => agreed.get(hash) === undefined)
      for (const hash of unknown.length > 0 ? unknown : others) until.set(hash, now() + LOOK_AGAIN)
    },
  }
}
