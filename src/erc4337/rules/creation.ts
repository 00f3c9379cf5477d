import type { Address } from 'viem'
import { type FrameRecord, usesOpcode } from '../../evm/index.js'
import { opcodeViolation } from './opcodes.js'
import {
  type FrameRule,
  framesOf,
  isEntryPointFrame,
  type PhaseRule,
  type RuleContext,
} from './ruleContext.js'
import type { Party, Violation } from './violation.js'

const createOpcode = [0xf0, 'CREATE'] as const
const create2Opcode = [0xf5, 'CREATE2'] as const

/**
 * OP-011 on CREATE: banned except for the sender of an operation with a factory (OP-032), a staked
 * factory itself (EREP-060) and every contract in a staked factory's deployment (EREP-061).
 */
export const create: FrameRule = (context, phase, frame) => {
  if (!usesOpcode(frame, createOpcode[0])) return []
  const { factory } = context.entities
  const bySender = frame.storageAddress === context.op.sender
  if (factory !== undefined && bySender) return []
  if (factory?.staked && (isBy(frame, factory.address) || phase.name === 'deployment')) return []
  const stakeable = phase.name === 'deployment' || isBy(frame, factory?.address)
  return [opcodeViolation('OP-011', phase, frame, createOpcode, stakeOf(stakeable && factory))]
}

/**
 * OP-031: in the deployment CREATE2 may run once, to create the sender, in the factory or a contract that
 * it calls. EREP-060: a staked factory, and the sender it made, may use it freely.
 */
export const create2: PhaseRule = (context, phase) => {
  const { factory } = context.entities
  const violations: Violation[] = []
  let deployed = false
  for (const frame of framesOf(phase.root)) {
    if (!usesOpcode(frame, create2Opcode[0]) || isEntryPointFrame(context, frame)) continue
    const free = isBy(frame, factory?.address) || isBy(frame, context.op.sender)
    if (free && factory?.staked) continue
    if (!deployed && phase.name === 'deployment' && createsOnlySender(context, frame)) {
      deployed = true
      continue
    }
    violations.push(
      opcodeViolation('OP-031', phase, frame, create2Opcode, stakeOf(free && factory)),
    )
  }
  return violations
}

function isBy(frame: FrameRecord, address: Address | undefined): boolean {
  return frame.storageAddress === address
}

function createsOnlySender({ op }: RuleContext, frame: FrameRecord): boolean {
  const created = frame.calls.filter(({ kind }) => kind === 'CREATE2')
  return created.length === 1 && created[0]!.to === op.sender
}

function stakeOf(factory: Party | false | undefined): Pick<Violation, 'stakeNeeded'> {
  return factory ? { stakeNeeded: { role: factory.role, address: factory.address } } : {}
}
