import type { Hex } from 'viem'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'

const transactionGas = 21_000
/** EIP-2028 and EIP-7623: a byte is one token when zero and four when not. */
const gasPerToken = 4
const floorGasPerToken = 10
/**
 * handleOps around its operations: 4 bytes of selector, the words for the offset of the array, the
 * beneficiary and the length, 26 non-zero bytes and 74 zero bytes in all when no byte of the
 * beneficiary is zero.
 */
const envelopeTokens = 26 * 4 + 74
/** An operation's offset in the array has up to three non-zero bytes, alone it has one. */
const offsetTokens = 2 * 3
/** Copying a word of call data into the memory of handleOps and again of the inner call; measured 9.5. */
const gasPerCallDataWord = 10
/** EIP-7702: PER_EMPTY_ACCOUNT_COST of each authorization. */
const authorizationGas = 25_000

export type BundleShare = {
  /** Operations that share a bundle's fixed costs, at least 1. */
  readonly bundleSize: number
  /** Gas that validation is known to use, which counts towards the EIP-7623 floor; 0 is the safe guess. */
  readonly verificationGasUsed: bigint
  /** Gas for publishing the encoded operation elsewhere (a rollup's layer 1). */
  readonly dataGas: (encodedOperation: Hex) => bigint
}

/** On a chain that pays for nothing but execution and calldata. */
export const noDataGas = (): bigint => 0n

/**
 * Gas that `op` causes in a bundle of `bundleSize` operations and that the EntryPoint cannot meter:
 * its calldata, the EntryPoint's own work on it, and its share of what a bundle costs anyway (21,000,
 * fixed work, envelope). Where the transaction would fall to the calldata floor of EIP-7623 it is
 * the share of that, less the validation gas that the operation pays for as well.
 */
export function preVerificationGas(
  entryPoint: Pick<EntryPoint, 'overhead' | 'encodeOperation'>,
  op: Operation,
  { bundleSize, verificationGasUsed, dataGas }: BundleShare,
): bigint {
  const encoded = entryPoint.encodeOperation(op)
  const tokens = countTokens(encoded) + offsetTokens
  const { fixed, perOp } = entryPoint.overhead
  const authorization = op.authorization === undefined ? 0 : authorizationGas
  const callDataWords = Math.ceil((op.callData.length - 2) / 64)

  const shared = transactionGas + fixed + envelopeTokens * gasPerToken
  const own = perOp + callDataWords * gasPerCallDataWord + tokens * gasPerToken + authorization
  const standard = Math.ceil(shared / bundleSize) + own

  const sharedFloor = transactionGas + envelopeTokens * floorGasPerToken
  const floor =
    Math.ceil(sharedFloor / bundleSize) + tokens * floorGasPerToken - Number(verificationGasUsed)

  return BigInt(Math.max(standard, floor)) + dataGas(encoded)
}

function countTokens(hex: Hex): number {
  let tokens = 0
  for (let at = 2; at < hex.length; at += 2) {
    const zero = hex.charCodeAt(at) === zeroDigit && hex.charCodeAt(at + 1) === zeroDigit
    tokens += zero ? 1 : 4
  }
  return tokens
}

const zeroDigit = 0x30
