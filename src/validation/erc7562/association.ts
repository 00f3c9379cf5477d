import type { Address, Hex } from 'viem'
import { type Preimage, toHex } from '../../evm/index.js'

/** A slot lies at most this far behind the hash it is derived from. */
const MAX_OFFSET = 128n
/** Bytes: the address as a word, and a word. */
const MIN_INPUT = 64

/**
 * A test whether a slot is associated with an address A: it is A itself, or keccak(A ‖ x) + n with x of
 * 32 bytes or more and n from 0 to 128, as Solidity places mappings by address (their values may be
 * structs) and accounts their linked lists (Alchemy's Modular Account hashes 128 bytes).
 * `preimages` are all inputs that the run hashed; a slot whose hash it never computed is not seen as
 * associated.
 */
export function createAssociation(
  preimages: readonly Preimage[],
): (owner: Address, slot: Hex) => boolean {
  const basesByOwner = new Map<Address, readonly bigint[]>()
  const basesOf = (owner: Address): readonly bigint[] => {
    let bases = basesByOwner.get(owner)
    if (bases === undefined) {
      bases = preimages
        .filter(({ input }) => input.length >= MIN_INPUT && startsWith(input, owner))
        .map(({ hash }) => BigInt(toHex(hash)))
      basesByOwner.set(owner, bases)
    }
    return bases
  }
  return (owner, slot) => {
    const value = BigInt(slot)
    if (value === BigInt(owner)) return true
    return basesOf(owner).some((base) => BigInt.asUintN(256, value - base) <= MAX_OFFSET)
  }
}

function startsWith(input: Uint8Array, owner: Address): boolean {
  for (let i = 0; i < 12; i++) if (input[i] !== 0) return false
  return toHex(input.subarray(12, 32)) === owner
}
