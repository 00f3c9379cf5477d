import { brotliCompressSync, constants } from 'node:zlib'
import { greatest } from '../../base/bigints.js'

/** The prices of an Arbitrum chain at one block, from its contract ArbGasInfo. */
export type ArbitrumPrices = {
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

/** Gas that the chain takes of the gas limit for this fee, before it runs the transaction. */
export function posterGas(fee: bigint, baseFee: bigint): bigint {
  return fee / greatest(baseFee, 1n)
}

/** The lowest base fee (wei per gas) of the coming seconds; it usually lies at its minimum. */
export function lowestArbitrumBaseFee({ minimumBaseFee }: ArbitrumPrices, baseFee: bigint): bigint {
  return greatest(minimumBaseFee, (baseFee * 7n) / 8n)
}
