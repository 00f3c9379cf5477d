import type { Address, Hex } from 'viem'
import { concatHex, pad } from 'viem/utils'
import { type FrameRecord, toHex } from '../../evm/index.js'
import {
  type Entity,
  type FrameRule,
  framesOf,
  type Phase,
  type RuleContext,
} from './ruleContext.js'
import { type Party, type RuleId, type Violation, violation } from './violation.js'

/** approve(address,uint256) of ERC-20. */
const APPROVE = '0x095ea7b3'
/** Its selector and the spender, which a record keeps of every call. */
const APPROVAL_BYTES = 36

/** One slot that a frame used. */
type SlotUse = { readonly slot: Hex; readonly writes: boolean; readonly transient: boolean }

/**
 * STO-010 to STO-033 for every slot that the frame used. The owner of the storage counts, not
 * the code that ran: they differ under DELEGATECALL.
 */
export const storage: FrameRule = (context, phase, frame) => {
  const contract = frame.storageAddress
  // STO-010: the account's own storage is always open, to every entity.
  if (contract === context.op.sender || isTokenApproval(context, phase, frame)) return []
  const violations: Violation[] = []
  for (const use of slotUses(frame)) {
    if (isAllowed(context, phase.entity, contract, use)) continue
    violations.push(explain(context, phase, contract, use))
  }
  return violations
}

/** OP-070: the same rules hold for transient slots as for persistent ones. */
function* slotUses(frame: FrameRecord): Generator<SlotUse> {
  const { reads, writes, transientReads, transientWrites } = frame
  for (const slot of writes.keys()) yield { slot, writes: true, transient: false }
  for (const slot of transientWrites) yield { slot, writes: true, transient: true }
  for (const slot of reads.keys()) {
    if (!writes.has(slot)) yield { slot, writes: false, transient: false }
  }
  for (const slot of transientReads) {
    if (!transientWrites.has(slot)) yield { slot, writes: false, transient: true }
  }
}

function isAllowed(context: RuleContext, entity: Entity, contract: Address, use: SlotUse): boolean {
  if (isEntityStorage(entity, contract)) return entity.staked
  if (belongsToEntity(context, contract)) return false
  return (
    isAccountAssociated(context, use) ||
    (entity.staked && (isEntityAssociated(context, entity, use) || isReadOnly(use)))
  )
}

/**
 * Whether `frame` of a deployment is part of an approval by which the new account lets a token tank of ours
 * take the tank's token: as the setup of a Safe makes it. No rule of the ERC (D-138). An approval shows its caller
 * nothing about other slots of the token and writes one that only its account can change, so a
 * deployment cannot be made to fail by what others do with the token.
 */
function isTokenApproval(context: RuleContext, phase: Phase, frame: FrameRecord): boolean {
  if (phase.name !== 'deployment' || frame.storageAddress !== context.paymentToken) return false
  const known = approvalsOf.get(phase) ?? findApprovals(context, phase)
  approvalsOf.set(phase, known)
  return known.has(frame)
}

/** The frames of a phase's approvals: they are looked for once, as a deployment may call the token thousands of times. */
const approvalsOf = new WeakMap<Phase, ReadonlySet<FrameRecord>>()

function findApprovals(context: RuleContext, { root }: Phase): ReadonlySet<FrameRecord> {
  const found = new Set<FrameRecord>()
  for (const call of framesOf(root)) if (approvesTank(context, call)) addApproval(call, found)
  return found
}

function approvesTank({ op, paymentToken, entities }: RuleContext, call: FrameRecord): boolean {
  if (call.kind !== 'CALL' || call.from !== op.sender || call.to !== paymentToken) return false
  if (entities.paymaster === undefined) return false
  const approval = concatHex([APPROVE, pad(entities.paymaster.address)])
  return toHex(call.input.subarray(0, APPROVAL_BYTES)) === approval
}

/** Adds `call`, and code that it borrows, as a token behind a proxy does. */
function addApproval(call: FrameRecord, found: Set<FrameRecord>): void {
  if (found.has(call)) return
  found.add(call)
  for (const inner of call.calls) if (inner.kind === 'DELEGATECALL') addApproval(inner, found)
}

/** STO-031: an entity's own storage, open to it when it is staked. */
function isEntityStorage(entity: Entity, contract: Address): boolean {
  return contract === entity.address
}

/** STO-021 and STO-022: slots associated with the account, once it exists or its factory is staked. */
function isAccountAssociated(context: RuleContext, { slot }: SlotUse): boolean {
  if (!context.senderExists && !context.entities.factory?.staked) return false
  return context.isAssociated(context.op.sender, slot)
}

/** STO-032: slots associated with the entity; for staked entities. */
function isEntityAssociated(context: RuleContext, entity: Entity, { slot }: SlotUse): boolean {
  return context.isAssociated(entity.address, slot)
}

/** STO-033: reading any slot; for staked entities. */
function isReadOnly({ writes }: SlotUse): boolean {
  return !writes
}

/** STO-021, 022, 032 and 033 speak of contracts that are no entity of the operation. */
export function belongsToEntity({ entities }: RuleContext, contract: Address): boolean {
  return contract === entities.factory?.address || contract === entities.paymaster?.address
}

function explain(context: RuleContext, phase: Phase, contract: Address, use: SlotUse): Violation {
  const { entity } = phase
  const { rule, needs, why } = reason(context, entity, contract, use)
  const verb = use.writes ? 'writes' : 'reads'
  const kind = use.transient ? 'transient slot' : 'slot'
  const unstaked = needs?.role === entity.role ? 'unstaked ' : ''
  const message = `${unstaked}${entity.role} ${verb} ${kind} ${use.slot} of ${contract}: ${why}`
  const stakeNeeded = needs && { role: needs.role, address: needs.address }
  return violation(rule, entity, message, {
    slot: use.slot,
    contract,
    ...(stakeNeeded && { stakeNeeded }),
  })
}

type Reason = { readonly rule: RuleId; readonly needs?: Party | undefined; readonly why: string }

function reason(context: RuleContext, entity: Entity, contract: Address, use: SlotUse): Reason {
  const needs = entity.staked ? undefined : entity
  if (isEntityStorage(entity, contract)) {
    return { rule: 'STO-031', needs, why: `only a staked ${entity.role} may use its own storage` }
  }
  if (belongsToEntity(context, contract)) {
    return { rule: 'STO-033', why: 'it is the storage of another entity of the operation' }
  }
  if (context.isAssociated(context.op.sender, use.slot)) {
    const { factory } = context.entities
    return {
      rule: 'STO-022',
      needs: factory,
      why: 'it belongs to an account that does not exist yet, and the factory is not staked',
    }
  }
  if (isEntityAssociated(context, entity, use)) {
    return { rule: 'STO-032', needs, why: `only a staked ${entity.role} may use slots of its own` }
  }
  return isReadOnly(use)
    ? { rule: 'STO-033', needs, why: 'only a staked entity may read what others own' }
    : { rule: 'STO-033', why: 'nobody may write what others own' }
}
