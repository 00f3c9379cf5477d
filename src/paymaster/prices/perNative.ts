/** One as a fixed-point number of 18 decimals. */
export const ONE = 10n ** 18n

function divideUp(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}

/** A price with `decimals` decimals in 18, rounded down. Throws RangeError for a negative one. */
export function toFixed18(value: bigint, decimals: number): bigint {
  if (value < 0n || decimals < 0) throw new RangeError('A price is not negative.')
  return decimals <= 18
    ? value * 10n ** BigInt(18 - decimals)
    : value / 10n ** BigInt(decimals - 18)
}

/**
 * The whole tokens per native coin, from both prices in one currency. All with 18 decimals, rounded
 * up: the rounding is charged.
 */
export function perNativeOf(native: bigint, token: bigint): bigint {
  return divideUp(native * ONE, token)
}

/** The rate of a quote: smallest token units per 10^18 wei, rounded up. */
export function rateOf(perNative: bigint, decimals: number): bigint {
  return divideUp(perNative * 10n ** BigInt(decimals), ONE)
}
