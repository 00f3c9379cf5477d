import type { Address, Hex } from 'viem'
import { Lru } from '../../base/lru.js'
import { type Fork, keccak, toHex } from '../../evm/index.js'

const MAX_CODES = 2_000
const MAX_ADDRESSES = 20_000

type Seen = { readonly code: Uint8Array; readonly since: bigint }

/**
 * A memory of code, kept once however many accounts have it, and of the accounts that have it, where
 * that cannot change.
 *
 * Since Cancun (EIP-6780) a contract that outlives its first transaction keeps its code for ever. An
 * account without code and the designator of EIP-7702 can change, so these are read in every block. A
 * reorg can undo a creation, so code that was seen since its first block is forgotten.
 */
export class CodeMemory {
  readonly #codes = new Lru<Hex, Uint8Array>(MAX_CODES)
  readonly #hashes = new WeakMap<Uint8Array, Hex>()
  readonly #seen = new Lru<Address, Seen>(MAX_ADDRESSES)
  #era = 0

  /** Another one after each time that code was forgotten. */
  get era(): number {
    return this.#era
  }

  /** The code of an account that has been read before and cannot have changed. */
  at(address: Address): Uint8Array | undefined {
    return this.#seen.get(address)?.code
  }

  /** The same, as far as the account is known to have had it in block `number` already. */
  atBlock(address: Address, number: bigint): Uint8Array | undefined {
    const seen = this.#seen.get(address)
    return seen !== undefined && seen.since <= number ? seen.code : undefined
  }

  /** Code that was taken from any account, by its hash. */
  withHash(hash: Hex): Uint8Array | undefined {
    return this.#codes.get(hash)
  }

  /**
   * Remembers code that a node gave in block `number`, if that was known to be on the chain in this `era`: an answer may
   * come after the reorg that took its block. Returns the one array for this code.
   */
  take(address: Address, code: Uint8Array, number: bigint, fork: Fork, era: number): Uint8Array {
    const bytes = this.#intern(code)
    if (era === this.#era && fork !== 'shanghai' && bytes.length > 0 && bytes[0] !== 0xef) {
      this.#seen.set(address, { code: bytes, since: number })
    }
    return bytes
  }

  /** Hash of code that `take` returned. */
  hashOf(code: Uint8Array): Hex | undefined {
    return this.#hashes.get(code)
  }

  /** Forgets the code of accounts that was learnt in block `from` or later. */
  forget(from: bigint): void {
    this.#era++
    this.#seen.drop(({ since }) => since >= from)
  }

  #intern(bytes: Uint8Array): Uint8Array {
    if (this.#hashes.has(bytes)) return bytes
    const hash = toHex(keccak(bytes))
    const known = this.#codes.get(hash)
    if (known !== undefined) return known
    this.#codes.set(hash, bytes)
    this.#hashes.set(bytes, hash)
    return bytes
  }
}
