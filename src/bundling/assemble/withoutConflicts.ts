import type { Address, Hex } from 'viem'
import type { AccessedStorage, SlotSets } from '../../validation/erc7562/index.js'

type ConflictCandidate = {
  readonly operation: { readonly sender: Address }
  /** Undefined where the storage is not known; such an operation conflicts with none. */
  readonly accessed: AccessedStorage | undefined
}

/**
 * The candidates, in their order, that may share a bundle: none uses storage of another one's sender
 * (STO-041, ERC-4337), and none uses a slot that another one writes. The rest can go in the next bundle.
 */
export function withoutConflicts<C extends ConflictCandidate>(candidates: readonly C[]): C[] {
  const senders = new Set(candidates.map(({ operation }) => operation.sender))
  const separate = candidates.filter((candidate) => !usesSenders(candidate, senders))
  const [first] = candidates
  // Where every operation uses storage of another sender, the best one goes alone.
  if (separate.length === 0) return first ? [first] : []
  const touched = new SlotSet()
  const written = new SlotSet()
  return separate.filter(({ accessed }) => {
    if (accessed === undefined) return true
    const { reads, writes } = accessed
    if (touched.overlaps(writes) || written.overlaps(writes) || written.overlaps(reads))
      return false
    touched.add(reads)
    written.add(writes)
    return true
  })
}

function usesSenders(
  { operation, accessed }: ConflictCandidate,
  senders: ReadonlySet<Address>,
): boolean {
  if (accessed === undefined) return false
  const { reads, writes, associatedIn } = accessed
  const isOther = (contract: Address) => contract !== operation.sender && senders.has(contract)
  return [...reads.keys(), ...writes.keys(), ...associatedIn].some(isOther)
}

class SlotSet {
  readonly #slots = new Set<string>()

  add(sets: SlotSets): void {
    for (const key of keysOf(sets)) this.#slots.add(key)
  }

  overlaps(sets: SlotSets): boolean {
    for (const key of keysOf(sets)) if (this.#slots.has(key)) return true
    return false
  }
}

function* keysOf(sets: SlotSets): Generator<string> {
  for (const [contract, slots] of sets) for (const slot of slots) yield keyOf(contract, slot)
}

function keyOf(contract: Address, slot: Hex): string {
  return contract + slot
}
