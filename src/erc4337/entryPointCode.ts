import type { Address, Hex } from 'viem'
import { keccak } from './encoding/keccak.js'
import { domainSeparator } from './encoding/typedDataHash.js'
import type { Version } from './versionFacts.js'

/**
 * Hashes of the code that the ERC-4337 authors deployed, without what differs from chain to chain: v0.8 and
 * v0.9 hold the chain id and the EIP-712 domain of their deployment.
 */
const canonicalCodeHashes: Readonly<Record<Version, Hex>> = {
  '0.6': '0xc93c806e738300b5357ecdc2e971d6438d34d8e4e17b99b758b1f9cac91c8e70',
  '0.7': '0x8db5ff695839d655407cc8490bb7a5d82337a86a6b39c3f0258aa6c3b582fc58',
  '0.8': '0x52e8fa218675baeb4c173ed0e41ca5135d04e5f8d6333c996cf5ae5f1891b436',
  '0.9': '0xde03a0448199b81bf070361d563a5d03bbc5816a0e849b6152e108dd80565333',
}

const PUSH32 = '7f'
const blank = PUSH32 + '0'.repeat(64)

/** Whether `code` is what the authors of ERC-4337 deployed as this version, on whatever chain. */
export function isCanonicalCode(
  version: Version,
  {
    address,
    code,
    chainId,
  }: { readonly address: Address; readonly code: Hex; readonly chainId: number },
): boolean {
  const ofChain = PUSH32 + chainId.toString(16).padStart(64, '0')
  const ofDomain = PUSH32 + domainSeparator(address, chainId)
  const digits = code.slice(2).replaceAll(ofChain, blank).replaceAll(ofDomain, blank)
  return `0x${keccak(digits)}` === canonicalCodeHashes[version]
}
