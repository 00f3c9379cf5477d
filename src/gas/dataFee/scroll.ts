import { smallest } from '../../base/bigints.js'

/** The prices of Scroll at one block (Galileo), from its contract L1GasPriceOracle; scalars in billionths. */
export type ScrollPrices = {
  /** wei per gas of L1 */
  readonly l1BaseFee: bigint
  /** wei per blob gas of L1 */
  readonly l1BlobBaseFee: bigint
  readonly execScalar: bigint
  readonly blobScalar: bigint
  /** Bytes at which a transaction pays twice what its size alone would cost. */
  readonly penaltyFactor: bigint
}

const BILLION = 1_000_000_000n
const U64_MAX = 2n ** 64n - 1n

/**
 * wei of a transaction that has this many bytes, compressed by zstd. Without zstd its plain length is a
 * safe bound: the chain takes the smaller of both.
 */
export function scrollFee(prices: ScrollPrices, size: number): bigint {
  const { l1BaseFee, l1BlobBaseFee, execScalar, blobScalar, penaltyFactor } = prices
  const bytes = BigInt(size)
  const linear = (execScalar * l1BaseFee + blobScalar * l1BlobBaseFee) * bytes
  const penalty = penaltyFactor === 0n ? 0n : (linear * bytes) / penaltyFactor
  return smallest((linear + penalty) / BILLION, U64_MAX)
}
