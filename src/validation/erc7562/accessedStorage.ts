import type { Address, Hex } from 'viem'
import { framesOf, isEntryPointFrame, type Phase, type RuleContext } from './ruleContext.js'
import { belongsToEntity } from './storage.js'

/** Slots by the contract that holds them. */
export type SlotSets = ReadonlyMap<Address, ReadonlySet<Hex>>

/**
 * The storage that a validation depends on and changes. Left out are the EntryPoint's own books, and
 * what staked factories and paymasters keep for themselves: all their operations share that, and
 * their reputation answers for it.
 */
export type AccessedStorage = {
  /** Transient slots stand among the persistent ones: a bundle is one transaction (OP-070). */
  readonly reads: SlotSets
  readonly writes: SlotSets
  /** Foreign contracts in which slots of the account or of a staked entity were used (STO-041). */
  readonly associatedIn: ReadonlySet<Address>
}

export function accessedStorage(scene: RuleContext, phases: readonly Phase[]): AccessedStorage {
  const reads = new Map<Address, Set<Hex>>()
  const writes = new Map<Address, Set<Hex>>()
  for (const phase of phases) {
    for (const frame of framesOf(phase.root)) {
      if (isEntryPointFrame(scene, frame)) continue
      const contract = frame.storageAddress
      addAll(reads, contract, frame.reads.keys())
      addAll(reads, contract, frame.transientReads)
      addAll(writes, contract, frame.writes.keys())
      addAll(writes, contract, frame.transientWrites)
    }
  }
  const associatedIn = associatedContracts(scene, [reads, writes])
  return { reads: withoutStaked(scene, reads), writes: withoutStaked(scene, writes), associatedIn }
}

function withoutStaked(scene: RuleContext, sets: SlotSets): SlotSets {
  const { factory, paymaster } = scene.entities
  const staked = [factory, paymaster].filter((entity) => entity?.staked)
  if (staked.length === 0) return sets
  const left = new Map<Address, ReadonlySet<Hex>>()
  for (const [contract, slots] of sets) {
    const isTheirs = (slot: Hex) =>
      staked.some(
        (entity) => entity?.address === contract || scene.isAssociated(entity!.address, slot),
      )
    const others = [...slots].filter((slot) => !isTheirs(slot))
    if (others.length > 0) left.set(contract, new Set(others))
  }
  return left
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

function associatedContracts(scene: RuleContext, accesses: readonly SlotSets[]): Set<Address> {
  const { factory, paymaster } = scene.entities
  const owners = [scene.op.sender]
  if (factory?.staked) owners.push(factory.address)
  if (paymaster?.staked) owners.push(paymaster.address)
  const found = new Set<Address>()
  for (const sets of accesses) {
    for (const [contract, slots] of sets) {
      if (contract === scene.op.sender || belongsToEntity(scene, contract)) continue
      const isOwned = (slot: Hex) => owners.some((owner) => scene.isAssociated(owner, slot))
      if ([...slots].some(isOwned)) found.add(contract)
    }
  }
  return found
}
