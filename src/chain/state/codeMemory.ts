import type { Address, Hex } from 'viem'
import { Lru } from '../../base/lru.js'
import { type Fork, fromHex, keccak, toHex } from '../../evm/index.js'

const MAX_CODES = 2_000
const MAX_ADDRESSES = 20_000

type Seen = { readonly code: Uint8Array; readonly since: bigint }

/**
 * Code, kept once however many accounts have it, and which account has it, where that cannot change.
 *
 * Since Cancun (EIP-6780) a contract that outlives its first transaction keeps its code for ever. What
 * can change is no code at all and the designator of EIP-7702, so these are read in every block; and
 * a reorg can undo a creation, so what was seen since is forgotten.
 */
export class CodeMemory {
  readonly #codes = new Lru<Hex, Uint8Array>(MAX_CODES)
  readonly #hashes = new WeakMap<Uint8Array, Hex>()
  readonly #seen = new Lru<Address, Seen>(MAX_ADDRESSES)

  /** The code of an account that has been read before and cannot have changed. */
  at(address: Address): Uint8Array | undefined {
    return this.#seen.get(address)?.code
  }

  /** Takes code as a node gives it, read in block `number`; the array that stands for it. */
  take(address: Address, code: Hex, number: bigint, fork: Fork): Uint8Array {
    const bytes = this.#intern(fromHex(code))
    if (fork !== 'shanghai' && bytes.length > 0 && bytes[0] !== 0xef) {
      this.#seen.set(address, { code: bytes, since: number })
    }
    return bytes
  }

  /** Hash of code that `take` gave. */
  hashOf(code: Uint8Array): Hex | undefined {
    return this.#hashes.get(code)
  }

  /** Forgets who has which code, as far as it was learnt in block `from` or later. */
  forget(from: bigint): void {
    this.#seen.drop(({ since }) => since >= from)
  }

  #intern(bytes: Uint8Array): Uint8Array {
    const hash = toHex(keccak(bytes))
    const known = this.#codes.get(hash)
    if (known !== undefined) return known
    this.#codes.set(hash, bytes)
    this.#hashes.set(bytes, hash)
    return bytes
  }
}
