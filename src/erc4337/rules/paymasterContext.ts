import { encodeErrorResult, parseAbi } from 'viem/utils'
import { fromHex, toHex } from '../../evm/index.js'
import { readAbi } from '../encoding/abiReader.js'
import type { Entity, Phase, PhaseRule } from './ruleContext.js'
import type { RuleLimits } from './ruleLimits.js'
import { type Party, type Violation, violation } from './violation.js'

/** Bytes of the context that validatePaymasterUserOp returned; 0 when it returned none. */
export function contextSizeOf(phases: readonly Phase[]): number {
  const phase = phases.find(({ name }) => name === 'paymaster')
  return phase === undefined || phase.root.error !== undefined
    ? 0
    : contextSizeIn(phase.root.output)
}

/** Bytes of the context in what validatePaymasterUserOp returned; 0 when it returned none. */
function contextSizeIn(output: Uint8Array): number {
  const context = readAbi(toHex(output), '0x', (reader) => reader.bytes(0, 0)) ?? '0x'
  return (context.length - 2) / 2
}

/** validationData, the place of the context and its length. */
const ANSWER_HEAD = 96

/**
 * Revert data (AA33) for an answer of validatePaymasterUserOp that is longer than its context takes; undefined where it is not. v0.6 and v0.7
 * copy all of the answer into the memory of handleOps, where it makes every further word more expensive for nobody's account, and
 * LIM-020 means nothing if bytes behind the context do not count. v0.8 and later refuse it themselves.
 */
export function refusedPadding(output: Uint8Array): Uint8Array | undefined {
  const padding = output.length - ANSWER_HEAD - 32 * Math.ceil(contextSizeIn(output) / 32)
  if (padding <= 0) return undefined
  const text = `AA33 paymaster returned ${padding} bytes behind its context (LIM-020)`
  const abi = parseAbi(['error FailedOp(uint256 opIndex, string reason)'])
  return fromHex(encodeErrorResult({ abi, args: [0n, text] }))
}

/** EREP-050 and LIM-020 for the context that the paymaster's phase returned. */
export const paymasterContext: PhaseRule = ({ limits }, phase) =>
  phase.name === 'paymaster' ? checkContext(phase.entity, contextSizeOf([phase]), limits) : []

/** EREP-050 and LIM-020 for a context of `size` bytes. */
export function checkContext(paymaster: Entity, size: number, limits: RuleLimits): Violation[] {
  return [...contextOfUnstaked(paymaster, size), ...contextTooLong(paymaster, size, limits)]
}

/** EREP-050: only a staked paymaster may return a context. */
function contextOfUnstaked(paymaster: Entity, size: number): Violation[] {
  if (paymaster.staked || size === 0) return []
  const stakeNeeded = { role: paymaster.role, address: paymaster.address }
  const message = `unstaked paymaster returned a context of ${size} bytes`
  return [violation('EREP-050', paymaster, message, { stakeNeeded })]
}

/** LIM-020: the most bytes of a context. */
function contextTooLong(
  paymaster: Entity,
  size: number,
  { maxContextSize }: RuleLimits,
): Violation[] {
  if (size <= maxContextSize) return []
  const message = `paymaster returned a context of ${size} bytes, the limit is ${maxContextSize}`
  return [violation('LIM-020', paymaster, message)]
}

/** EREP-055: a context must be as long (bytes) at bundling as it was when the operation was accepted. */
export function changedContext(paymaster: Party, accepted: number, now: number): Violation[] {
  if (accepted === now) return []
  const message = `paymaster's context changed from ${accepted} to ${now} bytes`
  return [violation('EREP-055', paymaster, message)]
}
