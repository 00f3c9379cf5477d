import type { Address, Hex } from 'viem'
import { addressWord, uintWord } from '../../encoding/abiWriter.js'
import { keccak } from '../../encoding/keccak.js'

/** userOpHash of v0.6 and v0.7: the hash of the struct, bound to EntryPoint and chain. */
export function boundHash(structHash: string, entryPoint: Address, chainId: number): Hex {
  return `0x${keccak(structHash + addressWord(entryPoint) + uintWord(BigInt(chainId), 'chainId'))}`
}
