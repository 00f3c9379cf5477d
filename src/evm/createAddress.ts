import type { Address } from 'viem'
import { fromHex, toBytes, toHex } from './bytes/hex.js'
import { keccak } from './bytes/keccak.js'
import { encodeRlp, integerBytes } from './bytes/rlp.js'

/** Address of the contract that `creator` creates by CREATE or by a transaction with this nonce. */
export function createAddress(creator: Address, nonce: bigint): Address {
  return toHex(keccak(encodeRlp([fromHex(creator), integerBytes(nonce)])).subarray(12))
}

/** EIP-1014: address of the contract that `creator` creates by CREATE2. */
export function create2Address(creator: Address, salt: bigint, initcode: Uint8Array): Address {
  const preimage = new Uint8Array(85)
  preimage[0] = 0xff
  preimage.set(fromHex(creator), 1)
  preimage.set(toBytes(salt, 32), 21)
  preimage.set(keccak(initcode), 53)
  return toHex(keccak(preimage).subarray(12))
}
