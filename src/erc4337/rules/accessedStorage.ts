import type { Address, Hex } from 'viem'
import { framesOf, isEntryPointFrame, type Phase, type RuleContext } from './ruleContext.js'
import { belongsToEntity } from './storage.js'

/** Slots by the contract that holds them. */
export type SlotSets = ReadonlyMap<Address, ReadonlySet<Hex>>

/**
 * The storage that a validation depends on and changes. Left out are the EntryPoint's own storage and
 * that of staked factories and paymasters: all their operations share it, and their reputation answers
 * for it.
 */
export type AccessedStorage = {
  /** Transient slots stand among the persistent ones: a bundle is one transaction (OP-070). */
  readonly reads: SlotSets
  readonly writes: SlotSets
  /** Foreign contracts in which slots of the account or of a staked entity were used (STO-041). */
  readonly associatedIn: ReadonlySet<Address>
}

/** The storage that the phases of a validation accessed. */
export function accessedStorage(context: RuleContext, phases: readonly Phase[]): AccessedStorage {
  const reads = new Map<Address, Set<Hex>>()
  const writes = new Map<Address, Set<Hex>>()
  for (const phase of phases) {
    for (const frame of framesOf(phase.root)) {
      if (isEntryPointFrame(context, frame)) continue
      const contract = frame.storageAddress
      addAll(reads, contract, frame.reads.keys())
      addAll(reads, contract, frame.transientReads)
      addAll(writes, contract, frame.writes.keys())
      addAll(writes, contract, frame.transientWrites)
    }
  }
  const associatedIn = associatedContracts(context, [reads, writes])
  return {
    reads: withoutStaked(context, reads),
    writes: withoutStaked(context, writes),
    associatedIn,
  }
}

function withoutStaked(context: RuleContext, sets: SlotSets): SlotSets {
  const { factory, paymaster } = context.entities
  const staked = [factory, paymaster].filter((entity) => entity?.staked)
  if (staked.length === 0) return sets
  const others = new Map<Address, ReadonlySet<Hex>>()
  for (const [contract, slots] of sets) {
    const isTheirs = (slot: Hex) =>
      staked.some(
        (entity) => entity?.address === contract || context.isAssociated(entity!.address, slot),
      )
    const unowned = [...slots].filter((slot) => !isTheirs(slot))
    if (unowned.length > 0) others.set(contract, new Set(unowned))
  }
  return others
}

function addAll(sets: Map<Address, Set<Hex>>, contract: Address, slots: Iterable<Hex>): void {
  for (const slot of slots) {
    let set = sets.get(contract)
    if (set === undefined) {
      set = new Set()
      sets.set(contract, set)
    }
    set.add(slot)
  }
}

function associatedContracts(context: RuleContext, accesses: readonly SlotSets[]): Set<Address> {
  const { factory, paymaster } = context.entities
  const owners = [context.op.sender]
  if (factory?.staked) owners.push(factory.address)
  if (paymaster?.staked) owners.push(paymaster.address)
  const contracts = new Set<Address>()
  for (const sets of accesses) {
    for (const [contract, slots] of sets) {
      if (contract === context.op.sender || belongsToEntity(context, contract)) continue
      const isOwned = (slot: Hex) => owners.some((owner) => context.isAssociated(owner, slot))
      if ([...slots].some(isOwned)) contracts.add(contract)
    }
  }
  return contracts
}
