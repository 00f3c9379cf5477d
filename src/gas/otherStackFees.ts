import { brotliCompressSync, constants } from 'node:zlib'
import { greatest, smallest } from '../base/bigints.js'

/** The prices of an Arbitrum chain at one block, from its contract ArbGasInfo. */
type ArbitrumPrices = {
  /** wei per unit of data: a sixteenth of a compressed byte */
  readonly pricePerUnit: bigint
  /** wei per gas below which the base fee never falls */
  readonly minimumBaseFee: bigint
}

/** ArbOS 20 and later. */
const BROTLI_LEVEL = 1
const BROTLI_WINDOW = 22
const UNITS_PER_BYTE = 16n

const brotliOptions = {
  params: {
    [constants.BROTLI_PARAM_QUALITY]: BROTLI_LEVEL,
    [constants.BROTLI_PARAM_LGWIN]: BROTLI_WINDOW,
  },
}

/** The size for which a transaction pays: its length in bytes after Brotli. */
export function arbitrumSize(signed: Uint8Array): number {
  return brotliCompressSync(signed, brotliOptions).length
}

/** wei of a transaction of this size, which the chain takes as gas. */
export function arbitrumFee({ pricePerUnit }: ArbitrumPrices, size: number): bigint {
  return BigInt(size) * UNITS_PER_BYTE * pricePerUnit
}

/** The lowest base fee (wei per gas) of the coming seconds; it usually lies at its minimum. */
export function lowestArbitrumBaseFee({ minimumBaseFee }: ArbitrumPrices, baseFee: bigint): bigint {
  return greatest(minimumBaseFee, (baseFee * 7n) / 8n)
}

/** The prices of Scroll at one block (Galileo), from its contract L1GasPriceOracle; scalars in billionths. */
type ScrollPrices = {
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
