import { greatest } from '../../base/bigints.js'
import { fastLzLength } from './fastLz.js'

/** The forks at which the OP stack changed how it measures data; Fjord's way holds up to Karst. */
export type OpStackFork = 'bedrock' | 'ecotone' | 'fjord'

/** The prices of an OP-stack chain at one block, from its contract L1Block and the block's header. */
export type OpStackPrices = {
  readonly fork: OpStackFork
  /** wei per gas of L1 */
  readonly l1BaseFee: bigint
  /** wei per blob gas of L1 */
  readonly blobBaseFee: bigint
  /** Millionths, from Ecotone on. */
  readonly baseFeeScalar: bigint
  readonly blobBaseFeeScalar: bigint
  /** Bedrock: L1 gas of each transaction beside its data, and millionths of the price. */
  readonly overhead: bigint
  readonly scalar: bigint
  /** The price of L1's coin in the chain's own, where they differ; 1 elsewhere. */
  readonly tokenRatio: bigint
  readonly operatorFee: OperatorFee
}

/** A fee that the operator of the chain takes for gas, from Isthmus on. */
export type OperatorFee = {
  /** Isthmus counts millionths of a wei per gas, Jovian hundreds of wei. */
  readonly rule: 'isthmus' | 'jovian'
  readonly scalar: bigint
  /** wei for each transaction */
  readonly constant: bigint
}

const MILLION = 1_000_000n
/** Fjord's regression from the compressed length to the share of a compressed batch, in millionths of a byte. */
const INTERCEPT = -42_585_600n
const PER_COMPRESSED_BYTE = 836_500n
const LEAST_ESTIMATE = 100n * MILLION

/** The size for which a transaction pays: from Fjord on its length after FastLZ, before the L1 gas of its bytes. */
export function opStackSize(fork: OpStackFork, signed: Uint8Array): number {
  return fork === 'fjord' ? fastLzLength(signed) : calldataGas(signed)
}

/** wei of a transaction of this size (`opStackSize`), without the operator's fee. */
export function opStackFee(prices: OpStackPrices, size: number): bigint {
  return opStackL1Fee(prices, BigInt(size)) * prices.tokenRatio
}

function opStackL1Fee(prices: OpStackPrices, size: bigint): bigint {
  const { fork, l1BaseFee, blobBaseFee, baseFeeScalar, blobBaseFeeScalar } = prices
  // In the first block after Ecotone its scalars are not set yet, and Bedrock's formula still applies.
  if (fork === 'bedrock' || (fork === 'ecotone' && baseFeeScalar + blobBaseFeeScalar === 0n))
    return ((size + prices.overhead) * l1BaseFee * prices.scalar) / MILLION
  const weighted = 16n * l1BaseFee * baseFeeScalar + blobBaseFee * blobBaseFeeScalar
  if (fork === 'ecotone') return (size * weighted) / (16n * MILLION)
  return (compressedEstimate(size) * weighted) / (MILLION * MILLION)
}

/** Fjord: millionths of a byte that a transaction takes of a batch, from its length after FastLZ. */
export function compressedEstimate(length: bigint): bigint {
  return greatest(LEAST_ESTIMATE, INTERCEPT + PER_COMPRESSED_BYTE * length)
}

/** wei that the operator takes for a transaction that used this gas. */
export function operatorFeeOf({ rule, scalar, constant }: OperatorFee, gas: bigint): bigint {
  return (rule === 'jovian' ? gas * scalar * 100n : (gas * scalar) / MILLION) + constant
}

/** wei per gas that the operator takes at most, rounded up. */
export function operatorFeePerGas({ rule, scalar }: OperatorFee): bigint {
  return rule === 'jovian' ? scalar * 100n : (scalar + MILLION - 1n) / MILLION
}

/** EIP-2028: 4 gas for a zero byte, 16 for any other. */
function calldataGas(bytes: Uint8Array): number {
  return bytes.reduce((gas, byte) => gas + (byte === 0 ? 4 : 16), 0)
}

/** The base fee after which a header lets the next ones fall, and how fast (Holocene, Jovian). */
export type BaseFeeRule = {
  /** A base fee falls by one part in this at most, from block to block. */
  readonly denominator: bigint
  /** wei per gas */
  readonly minimum: bigint
}

/** Canyon's denominator holds where a header names none. */
const CANYON_DENOMINATOR = 250n

/** The rule in a header's extraData: version 0 (Holocene) or 1 (Jovian), then denominator, elasticity, minimum. */
export function decodeBaseFeeRule(extraData: string): BaseFeeRule & { readonly isJovian: boolean } {
  const isJovian = extraData.startsWith('0x01') && extraData.length === 36
  const isHolocene = extraData.startsWith('0x00') && extraData.length === 20
  if (!isJovian && !isHolocene)
    return { isJovian: false, denominator: CANYON_DENOMINATOR, minimum: 0n }
  const denominator = BigInt(`0x${extraData.slice(4, 12)}`)
  return {
    isJovian,
    denominator: denominator === 0n ? CANYON_DENOMINATOR : denominator,
    minimum: isJovian ? BigInt(`0x${extraData.slice(20, 36)}`) : 0n,
  }
}

/** The lowest base fee (wei per gas) of the coming `blocks` blocks. */
export function lowestBaseFee(
  { denominator, minimum }: BaseFeeRule,
  baseFee: bigint,
  blocks: number,
): bigint {
  let lowest = baseFee
  for (let block = 0; block < blocks; block++) lowest -= (lowest + denominator - 1n) / denominator
  return greatest(lowest, minimum, 0n)
}
