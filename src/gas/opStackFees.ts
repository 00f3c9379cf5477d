import { greatest } from '../base/bigints.js'

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
  /** Bedrock: L1 gas of each transaction on top of its data, and millionths of the price. */
  readonly overhead: bigint
  readonly scalar: bigint
  /** The price of L1's coin in the chain's own, where they differ; 1 elsewhere. */
  readonly tokenRatio: bigint
  readonly operatorFee: OperatorFee
}

/** A fee that the operator of the chain takes for gas, from Isthmus on. */
type OperatorFee = {
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
type BaseFeeRule = {
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

const HASH_BITS = 13
/** A match may lie this many bytes back at most. */
const MAX_DISTANCE = 2 ** HASH_BITS - 1
/** The last bytes are never looked up, so that a match cannot run over the end. */
const TAIL = 13
const MATCH_TAIL = 4
/** Literals go in runs of at most 32, each with a byte before it. */
const LONGEST_RUN = 32
/** A match of more bytes than this is written in pieces of three bytes. */
const LONGEST_MATCH = 262

/**
 * The length in bytes of the data after FastLZ compression at level 1, by which OP-stack chains measure a
 * transaction from Fjord on. Consensus figures: any other compressor of the same family gives others.
 */
export function fastLzLength(bytes: Uint8Array): number {
  const positions = new Uint32Array(2 ** HASH_BITS)
  const last = Math.max(bytes.length - TAIL, 0)
  let length = 0
  let written = 0
  let at = 2
  while (at < last) {
    const earlier = nextMatch(bytes, positions, at, last)
    if (earlier === undefined) break
    at = earlier.at
    length += literalLength(at - written)
    const matched = matchLength(bytes, earlier.position + 3, at + 3)
    length += 3 * Math.floor((matched - 1) / LONGEST_MATCH)
    length += (matched - 1) % LONGEST_MATCH >= 6 ? 3 : 2
    at += matched
    for (let noted = 0; noted < 2; noted++, at++) positions[hash(triple(bytes, at))] = at
    written = at
  }
  return length + literalLength(bytes.length - written)
}

/** The next position from `from` at which three bytes have been seen before, with that earlier position. */
function nextMatch(
  bytes: Uint8Array,
  positions: Uint32Array,
  from: number,
  last: number,
): { at: number; position: number } | undefined {
  for (let at = from; at < last; at++) {
    const sequence = triple(bytes, at)
    const slot = hash(sequence)
    const position = positions[slot] ?? 0
    positions[slot] = at
    const isMatch = at - position <= MAX_DISTANCE && sequence === triple(bytes, position)
    // The compressor looks at the position behind a match as well: where that is the end, none is written.
    if (isMatch) return at + 1 < last ? { at, position } : undefined
  }
  return undefined
}

/** Bytes by which a match at `at` exceeds two: its first three agree, the first that does not counts as well. */
function matchLength(bytes: Uint8Array, earlier: number, at: number): number {
  const longest = bytes.length - MATCH_TAIL - at
  let length = 0
  while (length < longest) {
    length++
    if (bytes[earlier + length - 1] !== bytes[at + length - 1]) break
  }
  return length
}

/** Bytes that a run of literals takes. */
function literalLength(count: number): number {
  const rest = count % LONGEST_RUN
  return ((count - rest) / LONGEST_RUN) * (LONGEST_RUN + 1) + (rest > 0 ? rest + 1 : 0)
}

function triple(bytes: Uint8Array, at: number): number {
  return (bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16)
}

/** A multiplication modulo 2^32, of which 13 bits count. */
function hash(sequence: number): number {
  return (Math.imul(2_654_435_769, sequence) >>> (32 - HASH_BITS)) & MAX_DISTANCE
}
