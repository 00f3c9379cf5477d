import type { Address, Hex } from 'viem'
import type { FrameRecord } from '../../evm/index.js'
import type { Entity, FrameRule, Phase, RuleContext } from './ruleContext.js'
import { type Party, type RuleId, type Violation, violation } from './violation.js'

/** One slot that a frame used. */
type SlotUse = { readonly slot: Hex; readonly writes: boolean; readonly transient: boolean }

/**
 * STO-010 to STO-033 for every slot that the frame used. What counts is whose storage it is, not
 * whose code ran: they differ under DELEGATECALL.
 */
export const storage: FrameRule = (scene, phase, frame) => {
  const contract = frame.storageAddress
  if (isAccountStorage(scene, contract)) return []
  const violations: Violation[] = []
  for (const use of slotUses(frame)) {
    if (isAllowed(scene, phase.entity, contract, use)) continue
    violations.push(explain(scene, phase, contract, use))
  }
  return violations
}

/** OP-070: transient slots are judged like persistent ones. */
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

function isAllowed(scene: RuleContext, entity: Entity, contract: Address, use: SlotUse): boolean {
  if (isEntityStorage(entity, contract)) return entity.staked
  if (belongsToEntity(scene, contract)) return false
  return (
    isAccountAssociated(scene, use) ||
    (entity.staked && (isEntityAssociated(scene, entity, use) || isReadOnly(use)))
  )
}

/** STO-010: the account's own storage is always open, to every entity. */
function isAccountStorage({ op }: RuleContext, contract: Address): boolean {
  return contract === op.sender
}

/** STO-031: an entity's own storage, open to it when it is staked. */
function isEntityStorage(entity: Entity, contract: Address): boolean {
  return contract === entity.address
}

/** STO-021 and STO-022: slots associated with the account, once it exists or its factory is staked. */
function isAccountAssociated(scene: RuleContext, { slot }: SlotUse): boolean {
  if (!scene.senderExists && !scene.entities.factory?.staked) return false
  return scene.isAssociated(scene.op.sender, slot)
}

/** STO-032: slots associated with the entity; for staked ones. */
function isEntityAssociated(scene: RuleContext, entity: Entity, { slot }: SlotUse): boolean {
  return scene.isAssociated(entity.address, slot)
}

/** STO-033: reading anything; for staked ones. */
function isReadOnly({ writes }: SlotUse): boolean {
  return !writes
}

/** STO-021, 022, 032 and 033 speak of contracts that are no entity of the operation. */
export function belongsToEntity({ entities }: RuleContext, contract: Address): boolean {
  return contract === entities.factory?.address || contract === entities.paymaster?.address
}

function explain(scene: RuleContext, phase: Phase, contract: Address, use: SlotUse): Violation {
  const { entity } = phase
  const { rule, needs, why } = reason(scene, entity, contract, use)
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

function reason(scene: RuleContext, entity: Entity, contract: Address, use: SlotUse): Reason {
  const needs = entity.staked ? undefined : entity
  if (isEntityStorage(entity, contract)) {
    return { rule: 'STO-031', needs, why: `only a staked ${entity.role} may use its own storage` }
  }
  if (belongsToEntity(scene, contract)) {
    return { rule: 'STO-033', why: 'it is the storage of another entity of the operation' }
  }
  if (scene.isAssociated(scene.op.sender, use.slot)) {
    const { factory } = scene.entities
    return {
      rule: 'STO-022',
      needs: factory,
      why: 'it belongs to an account that does not exist yet, and the factory is not staked',
    }
  }
  if (isEntityAssociated(scene, entity, use)) {
    return { rule: 'STO-032', needs, why: `only a staked ${entity.role} may use slots of its own` }
  }
  return isReadOnly(use)
    ? { rule: 'STO-033', needs, why: 'only a staked entity may read what others own' }
    : { rule: 'STO-033', why: 'nobody may write what others own' }
}
