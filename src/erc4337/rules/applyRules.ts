import type { Address } from 'viem'
import type { ExecutionRecord, Fork, FrameRecord } from '../../evm/index.js'
import type { EntryPoint } from '../entryPoint.js'
import type { Operation } from '../operation.js'
import { type AccessedStorage, accessedStorage } from './accessedStorage.js'
import { createAssociation } from './association.js'
import { delegatedAccess, delegatedEntity } from './auth.js'
import { undeployedCode, unknownPrecompiles, valueCalls } from './calls.js'
import { type VisitedCode, visitedCode } from './code.js'
import { create, create2 } from './creation.js'
import { entryPointCalls, entryPointCode } from './entryPointAccess.js'
import { checkFields, verificationSlack } from './limits.js'
import { balances, bannedOpcodes, loneGas, outOfGas, unassignedOpcodes } from './opcodes.js'
import { contextSizeOf, paymasterContext } from './paymasterContext.js'
import { splitPhases } from './phases.js'
import {
  type Entity,
  type FrameRule,
  framesOf,
  isEntryPointFrame,
  type Phase,
  type PhaseRule,
  type RuleContext,
} from './ruleContext.js'
import type { RuleLimits } from './ruleLimits.js'
import { countsAsStaked, type StakePolicy, type Stakes } from './stakes.js'
import { storage } from './storage.js'
import type { EntityRole, Violation } from './violation.js'

/** One validation and the facts that the rules need. */
export type Evidence = {
  /** The record of a call of handleOps, or simulateValidation, with this one operation. */
  readonly record: ExecutionRecord
  readonly entryPoint: EntryPoint
  readonly op: Operation
  /** The fork by whose rules it ran. */
  readonly fork: Fork
  /**
   * Whether the sender had code before the run, or has it by the operation's authorization. Then
   * there is no factory to speak of: that of an EIP-7702 account is a marker, and EntryPoint v0.9
   * ignores any other.
   */
  readonly senderExists: boolean
  readonly stakes: Stakes
  readonly stakePolicy: StakePolicy
  readonly limits: RuleLimits
  /** The token that a token tank of ours takes: the deployment may approve the tank for it. */
  readonly paymentToken?: Address
}

/** The result of the rules for one validation. */
export type Verdict = {
  /** Every rule that is broken, in the order of the run; none = the operation is valid. */
  readonly violations: readonly Violation[]
  readonly accessed: AccessedStorage
  /** For COD-010 at the second validation: see `changedCode`. */
  readonly visitedCode: VisitedCode
  /** Entities in the order they ran, with the gas of their frames (EREP-070). */
  readonly entities: readonly (Entity & { readonly gasUsed: number })[]
  /** Bytes of the paymaster's context, for EREP-055 and LIM-050. */
  readonly contextSize: number
}

const frameRules: readonly FrameRule[] = [
  bannedOpcodes,
  loneGas,
  unassignedOpcodes,
  balances,
  create,
  undeployedCode,
  unknownPrecompiles,
  valueCalls,
  entryPointCalls,
  entryPointCode,
  delegatedAccess,
  storage,
]

const phaseRules: readonly PhaseRule[] = [delegatedEntity, create2, paymasterContext]

/** Applies the rules of ERC-7562 to a validation. Pure: the same evidence, the same verdict. */
export function applyRules(evidence: Evidence): Verdict {
  const { record, entryPoint, op, limits } = evidence
  const context = ruleContextOf(evidence)
  const phases = splitPhases(context, record.root)
  return {
    violations: [
      ...checkFields(entryPoint, op, limits),
      ...phases.flatMap((phase) => applyPhaseRules(context, phase)),
      ...verificationSlack(context, phases),
    ],
    accessed: accessedStorage(context, phases),
    visitedCode: visitedCode(context, phases),
    entities: phases.map(({ entity, gasUsed }) => ({ ...entity, gasUsed })),
    contextSize: contextSizeOf(phases),
  }
}

function applyPhaseRules(context: RuleContext, phase: Phase): Violation[] {
  const violations = phaseRules.flatMap((rule) => rule(context, phase))
  let framesOfOthers: ReadonlySet<FrameRecord> | undefined
  for (const frame of framesOf(phase.root)) {
    violations.push(...outOfGas(context, phase, frame))
    if (isEntryPointFrame(context, frame)) continue
    for (const violation of frameRules.flatMap((rule) => rule(context, phase, frame))) {
      framesOfOthers ??= findFramesOfOthers(context, phase)
      violations.push(framesOfOthers.has(frame) ? { ...violation, byOther: true } : violation)
    }
  }
  return violations
}

/** The frames of a phase in which another entity of the operation runs, and all that these call. */
function findFramesOfOthers(
  { entities }: RuleContext,
  { entity, root }: Phase,
): ReadonlySet<FrameRecord> {
  const addresses = new Set(Object.values(entities).map(({ address }) => address))
  addresses.delete(entity.address)
  const found = new Set<FrameRecord>()
  for (const frame of framesOf(root)) {
    if (found.has(frame) || addresses.has(frame.storageAddress) || addresses.has(frame.to))
      for (const each of [frame, ...frame.calls]) found.add(each)
  }
  return found
}

function ruleContextOf({ record, stakes, stakePolicy, ...rest }: Evidence): RuleContext {
  const { sender, factory, paymaster } = rest.op
  const entity = (role: EntityRole, address: Address): Entity => ({
    role,
    address,
    staked: countsAsStaked(stakes[role], stakePolicy),
  })
  return {
    ...rest,
    entities: {
      account: entity('account', sender),
      ...(factory && !rest.senderExists && { factory: entity('factory', factory) }),
      ...(paymaster && { paymaster: entity('paymaster', paymaster) }),
    },
    isAssociated: createAssociation(record.preimages),
  }
}
