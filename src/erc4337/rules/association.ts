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
 * associated. A run may hash and use tens of thousands: the hashes of an owner are sorted once, and each
 * slot is looked up among them.
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
        .sort((a, b) => (a < b ? -1 : 1))
      basesByOwner.set(owner, bases)
    }
    return bases
  }
  return (owner, slot) => {
    const value = BigInt(slot)
    if (value === BigInt(owner)) return true
    const base = lastUpTo(basesOf(owner), value)
    return base !== undefined && BigInt.asUintN(256, value - base) <= MAX_OFFSET
  }
}

/**
 * The greatest of the ascending `numbers` that is not above `limit`; the greatest of all when all are, as
 * slots run over at 2^256.
 */
function lastUpTo(numbers: readonly bigint[], limit: bigint): bigint | undefined {
  let [low, high] = [0, numbers.length]
  while (low < high) {
    const middle = (low + high) >>> 1
    if (numbers[middle]! <= limit) low = middle + 1
    else high = middle
  }
  return numbers.at(low - 1)
}

function startsWith(input: Uint8Array, owner: Address): boolean {
  for (let i = 0; i < 12; i++) if (input[i] !== 0) return false
  return toHex(input.subarray(12, 32)) === owner
}
