import { type Address, concatHex, type Hex, numberToHex } from 'viem'
import { addressWord, digits, uintWord } from '../entrypoint/abiWriter.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import { keccak } from '../entrypoint/keccak.js'
import type { Operation } from '../entrypoint/operation.js'

/** When a sponsorship holds, Unix seconds; validUntil 0 = without end. */
export type TimeRange = { readonly validAfter: number; readonly validUntil: number }

/** paymasterData of a tank: validUntil(6) | validAfter(6) | signature(65). */
export const encodeTankData = ({ validAfter, validUntil }: TimeRange, signature: Hex): Hex =>
  concatHex([numberToHex(validUntil, { size: 6 }), numberToHex(validAfter, { size: 6 }), signature])

/**
 * A signature of nobody to estimate with: an address can be recovered from it, so checking it costs
 * the gas of a real one, and no byte is zero, so its calldata costs at least as much.
 */
export const stubSignature: Hex = `0x${'33'.repeat(32)}${'22'.repeat(32)}1b`

/**
 * What the tank's signer signs (Tank06.getHash), as it is, to pay for `op` within `range`: the
 * EIP-712 digest of a Sponsorship in the domain of the tank. Throws OperationLimitError when a
 * field does not fit.
 */
export const sponsorshipHash = (
  op: Operation & { readonly paymaster: Address },
  entryPoint: EntryPoint,
  chainId: number,
  { validAfter, validUntil }: TimeRange,
): Hex => {
  const domain = keccak(
    domainTypeHash +
      nameHash +
      versionHash +
      uintWord(BigInt(chainId), 'chainId') +
      addressWord(op.paymaster),
  )
  const initCode = op.factory === undefined ? '' : digits(op.factory) + digits(op.factoryData)
  const sponsorship = keccak(
    sponsorshipTypeHash +
      addressWord(entryPoint.address) +
      addressWord(op.sender) +
      uintWord(op.nonce, 'nonce') +
      keccak(initCode) +
      keccak(digits(op.callData)) +
      uintWord(op.callGasLimit, 'callGasLimit') +
      uintWord(op.verificationGasLimit, 'verificationGasLimit') +
      uintWord(op.preVerificationGas, 'preVerificationGas') +
      uintWord(op.maxFeePerGas, 'maxFeePerGas') +
      uintWord(op.maxPriorityFeePerGas, 'maxPriorityFeePerGas') +
      uintWord(BigInt(validUntil), 'validUntil') +
      uintWord(BigInt(validAfter), 'validAfter'),
  )
  return `0x${keccak(`1901${domain}${sponsorship}`)}`
}

const hashOfText = (text: string): string => keccak(Buffer.from(text).toString('hex'))

const domainTypeHash = hashOfText(
  'EIP712Domain(string name,string version,uint256 chainId,address verifyingContract)',
)
const nameHash = hashOfText('Purser Tank')
const versionHash = hashOfText('1')
const sponsorshipTypeHash = hashOfText(
  'Sponsorship(address entryPoint,address sender,uint256 nonce,bytes initCode,bytes callData,' +
    'uint256 callGasLimit,uint256 verificationGasLimit,uint256 preVerificationGas,' +
    'uint256 maxFeePerGas,uint256 maxPriorityFeePerGas,uint48 validUntil,uint48 validAfter)',
)
