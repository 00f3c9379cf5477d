import type { Hex } from 'viem'
import type { NodeClient } from '../../chain/nodeClient.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import { type FrameRecord, fromHex, usesOpcode } from '../../evm/index.js'
import type { ObservedRecord, StateOverride, Validation } from '../engine.js'
import { authorizationOverride } from '../evmOverrides.js'
import { validityOf } from '../inProcess/simulatedOperation.js'
import { mergeOverrides } from '../mergeOverrides.js'
import { observeCalls } from '../trace/observeCalls.js'
import { traceRequest } from '../trace/traceRequest.js'

/** Whether the node answers the same as our EVM; `ours` and `node` in words, for the log. */
export type NodeComparison =
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
export async function compareOnNode(
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
