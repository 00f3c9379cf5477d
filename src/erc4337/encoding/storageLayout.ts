import type { Address, Hex } from 'viem'
import { addressWord, uintWord } from './abiWriter.js'
import { keccak } from './keccak.js'

/**
 * The slot in which an EntryPoint of any version keeps the deposit of `account`: the mapping `deposits` is its
 * first storage variable, and a deposit is the low 112 bits of the first word of its entry.
 */
export function depositSlot(account: Address): Hex {
  return `0x${keccak(addressWord(account) + uintWord(0n, 'slot'))}`
}

/** The slot in which it keeps the next nonce of `sender` for the key of `nonce` (its high 192 bits). */
export function nonceSlot(sender: Address, nonce: bigint): Hex {
  const ofSender = keccak(addressWord(sender) + uintWord(1n, 'slot'))
  return `0x${keccak(uintWord(nonce >> 64n, 'nonce') + ofSender)}`
}
