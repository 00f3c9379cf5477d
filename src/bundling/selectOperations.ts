import { size } from 'viem'
import type { Fees } from '../chain/feeAdvice.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import { effectiveTip } from './bundleFees.js'
import { least } from './least.js'

type Candidate = {
  readonly operation: Operation
  /** How often a bundle with it failed on the chain. */
  readonly attempts: number
  readonly receivedAt: Date
}

export type Selection = {
  readonly entryPoint: EntryPoint
  /** wei per gas of the head */
  readonly baseFee: bigint
  /** What the network asks now. */
  readonly network: Fees
  /** Least tip (wei per gas) with which a transaction is worth sending now. */
  readonly leastTip: bigint
  readonly limits: { readonly gas: bigint; readonly bytes: number; readonly operations: number }
}

/**
 * The operations of the next bundle, highest effective tip first, then the oldest; one per sender,
 * within the limits of gas, bytes and number.
 *
 * Who cannot pay `leastTip` over the base fee waits. The first one sets the bundle's tip (never more
 * than the network's); others join only when they pay it too, so that nobody slows the bundle down.
 * An operation whose bundle failed before runs alone, so that it cannot take others down again.
 */
export function selectOperations<C extends Candidate>(
  candidates: readonly C[],
  { entryPoint, baseFee, network, leastTip, limits }: Selection,
): C[] {
  const ranked = candidates
    .map((candidate) => ({ candidate, tip: effectiveTip(candidate.operation, baseFee) }))
    .filter(({ tip }) => tip >= leastTip)
    .sort(
      (a, b) =>
        compare(b.tip, a.tip) ||
        a.candidate.receivedAt.getTime() - b.candidate.receivedAt.getTime(),
    )
  const first = ranked[0]
  if (!first) return []
  if (first.candidate.attempts > 0) return [first.candidate]

  const ownTip = least(first.tip, network.maxPriorityFeePerGas)
  const senders = new Set<string>()
  const chosen: C[] = []
  let gas = 21_000n + BigInt(entryPoint.overhead.fixed)
  let bytes = envelopeBytes
  for (const { candidate, tip } of ranked) {
    const { operation, attempts } = candidate
    if (chosen.length === limits.operations || tip < ownTip) break
    if (attempts > 0 || senders.has(operation.sender)) continue
    const ownBytes = operationBytes(entryPoint, operation)
    const nextGas = gas + entryPoint.bundleGas(operation) + BigInt(ownBytes) * gasPerByte
    const nextBytes = bytes + ownBytes
    if (chosen.length > 0 && (nextGas > limits.gas || nextBytes > limits.bytes)) continue
    senders.add(operation.sender)
    chosen.push(candidate)
    gas = nextGas
    bytes = nextBytes
  }
  return chosen
}

/** A non-zero byte of calldata. */
const gasPerByte = 16n

/** The transaction's own fields and the frame of handleOps, at most. */
const envelopeBytes = 400

/** Calldata bytes that the operation adds to handleOps: its encoding and its offset word. */
export function operationBytes(entryPoint: EntryPoint, op: Operation): number {
  return size(entryPoint.encodeOperation(op)) + 32
}

function compare(a: bigint, b: bigint): number {
  return a < b ? -1 : a > b ? 1 : 0
}
