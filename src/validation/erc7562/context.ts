import { readAbi } from '../../entrypoint/abiReader.js'
import { toHex } from '../../evm/index.js'
import type { Phase, PhaseRule } from './scene.js'
import { type Party, type Violation, violation } from './violation.js'

/** Bytes of the context that validatePaymasterUserOp returned; 0 when it returned none. */
export function contextSizeOf(phases: readonly Phase[]): number {
  const phase = phases.find(({ name }) => name === 'paymaster')
  if (phase === undefined || phase.root.error !== undefined) return 0
  const context = readAbi(toHex(phase.root.output), '0x', (reader) => reader.bytes(0, 0)) ?? '0x'
  return (context.length - 2) / 2
}

/** EREP-050: only a staked paymaster may return a context. */
export const contextOfUnstaked: PhaseRule = (_, phase) => {
  const { entity, name } = phase
  if (name !== 'paymaster' || entity.staked) return []
  const size = contextSizeOf([phase])
  if (size === 0) return []
  const stakeNeeded = { role: entity.role, address: entity.address }
  const message = `unstaked paymaster returned a context of ${size} bytes`
  return [violation('EREP-050', entity, message, { stakeNeeded })]
}

/** LIM-020: the most bytes of a context. */
export const contextTooLong: PhaseRule = ({ limits }, phase) => {
  const size = contextSizeOf([phase])
  if (size <= limits.maxContextSize) return []
  const message = `paymaster returned a context of ${size} bytes, the limit is ${limits.maxContextSize}`
  return [violation('LIM-020', phase.entity, message)]
}

/** EREP-055: a context must be as long (bytes) at bundling as it was when the operation was accepted. */
export function changedContext(paymaster: Party, accepted: number, now: number): Violation[] {
  if (accepted === now) return []
  const message = `paymaster's context changed from ${accepted} to ${now} bytes`
  return [violation('EREP-055', paymaster, message)]
}
