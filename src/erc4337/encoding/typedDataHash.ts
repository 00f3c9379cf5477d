import type { Address, Hex } from 'viem'
import { addressWord, uintWord } from './abiWriter.js'
import { keccak } from './keccak.js'

function digitsOf(text: string): string {
  return Buffer.from(text).toString('hex')
}

const domainTypeHash = keccak(
  digitsOf('EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)'),
)
const nameHash = keccak(digitsOf('ERC4337'))
const versionHash = keccak(digitsOf('1'))

const operationTypeHash = keccak(
  digitsOf(
    'PackedUserOperation(address sender,uint256 nonce,bytes initCode,bytes callData,bytes32 accountGasLimits,uint256 preVerificationGas,bytes32 gasFees,bytes paymasterAndData)',
  ),
)

/**
 * A function that gives the userOpHash of v0.8 and later: the EIP-712 digest of an operation's
 * hashed words. It keeps the domain separator of the last chain, which is nearly always the next.
 */
export function createTypedDataHash(
  entryPoint: Address,
): (hashedWords: string, chainId: number) => Hex {
  let domain: { chainId: number; separator: string } | undefined
  return (hashedWords, chainId) => {
    if (domain?.chainId !== chainId) {
      domain = { chainId, separator: domainSeparator(entryPoint, chainId) }
    }
    return `0x${keccak(`1901${domain.separator}${keccak(operationTypeHash + hashedWords)}`)}`
  }
}

export function domainSeparator(entryPoint: Address, chainId: number): string {
  return keccak(
    domainTypeHash +
      nameHash +
      versionHash +
      uintWord(BigInt(chainId), 'chainId') +
      addressWord(entryPoint),
  )
}

/** userOpHash of v0.6 and v0.7: the hash of the struct, bound to EntryPoint and chain. */
export function boundHash(structHash: string, entryPoint: Address, chainId: number): Hex {
  return `0x${keccak(structHash + addressWord(entryPoint) + uintWord(BigInt(chainId), 'chainId'))}`
}
