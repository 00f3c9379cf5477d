import { readAbi } from '../../encoding/abiReader.js'
import { toHex } from '../../evm/index.js'
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
