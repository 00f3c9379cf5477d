import { type FrameRecord, isAssigned, opcodesOf, usesOpcode } from '../../evm/index.js'
import type { FrameRule, Phase } from './ruleContext.js'
import { type RuleId, type Violation, violation } from './violation.js'

const GAS = 0x5a
const INVALID = 0xfe

/** OP-011, without CREATE (see creation.ts). DIFFICULTY is the name that clients of bundlers know. */
const banned: readonly (readonly [opcode: number, name: string])[] = [
  [0x32, 'ORIGIN'],
  [0x3a, 'GASPRICE'],
  [0x40, 'BLOCKHASH'],
  [0x41, 'COINBASE'],
  [0x42, 'TIMESTAMP'],
  [0x43, 'NUMBER'],
  [0x44, 'DIFFICULTY (PREVRANDAO)'],
  [0x45, 'GASLIMIT'],
  [0x48, 'BASEFEE'],
  [0x49, 'BLOBHASH'],
  [0x4a, 'BLOBBASEFEE'],
  [0x4b, 'SLOTNUM'],
  [INVALID, 'INVALID'],
  [0xff, 'SELFDESTRUCT'],
]

const balanceOpcodes: readonly (readonly [opcode: number, name: string])[] = [
  [0x31, 'BALANCE'],
  [0x47, 'SELFBALANCE'],
]

/** The violation that is the use of an opcode in `frame`. */
export function opcodeViolation(
  rule: RuleId,
  phase: Phase,
  frame: FrameRecord,
  [opcode, name]: readonly [opcode: number, name: string],
  details: Pick<Violation, 'stakeNeeded'> = {},
): Violation {
  const { role } = phase.entity
  const message = `${role} uses banned opcode: ${name}, in ${frame.to}`
  return violation(rule, phase.entity, message, { opcode, contract: frame.to, ...details })
}

/** OP-011: no opcode that shows block or transaction, no INVALID, no SELFDESTRUCT. */
export const bannedOpcodes: FrameRule = (_, phase, frame) =>
  banned
    .filter(([opcode]) => usesOpcode(frame, opcode))
    .map((named) => opcodeViolation('OP-011', phase, frame, named))

/** OP-012: GAS only directly before a *CALL; the record notes it only elsewhere. */
export const loneGas: FrameRule = (_, phase, frame) =>
  usesOpcode(frame, GAS) ? [opcodeViolation('OP-012', phase, frame, [GAS, 'GAS'])] : []

/** OP-013: no opcode that the fork does not assign: it may mean something tomorrow. */
export const unassignedOpcodes: FrameRule = ({ fork }, phase, frame) => {
  if (frame.error !== 'invalid opcode') return []
  return opcodesOf(frame)
    .filter((opcode) => opcode !== INVALID && !isAssigned(fork, opcode))
    .map((opcode) => opcodeViolation('OP-013', phase, frame, [opcode, `0x${opcode.toString(16)}`]))
}

/** OP-020: no frame may run out of gas, even when its caller survives: that shows the gas limit. */
export const outOfGas: FrameRule = (_, phase, frame) => {
  if (frame.error !== 'out of gas') return []
  const { role } = phase.entity
  const message = `${role} runs out of gas inside its validation, in ${frame.to}`
  return [violation('OP-020', phase.entity, message, { contract: frame.to })]
}

/** OP-080: BALANCE and SELFBALANCE only in frames of a staked entity. */
export const balances: FrameRule = (_, phase, frame) => {
  const { entity } = phase
  if (entity.staked) return []
  const details = { stakeNeeded: { role: entity.role, address: entity.address } }
  return balanceOpcodes
    .filter(([opcode]) => usesOpcode(frame, opcode))
    .map((named) => opcodeViolation('OP-080', phase, frame, named, details))
}
