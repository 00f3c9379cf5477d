import { usdText } from '../../base/bigints.js'
import { unixNow } from '../../base/unixNow.js'
/** The worth of 10^18 wei of a chain's native token. */
export type NativePrice = {
  /** Millionths of a USD */
  readonly microUsd: bigint
  /** Unix seconds at which the price was true */
  readonly asOf: number
}

/** The price of a chain's native token; undefined = unknown. */
export type PriceSource = (chainId: number) => Promise<NativePrice | undefined>

/** The millionths of a USD in an amount like `3000.50`. */
export function parseUsd(text: string): bigint {
  const [whole = '0', fraction = ''] = text.split('.')
  return BigInt(whole + fraction.padEnd(6, '0'))
}

/** Prices that the operator configures; they never expire. */
export function configuredPrices(prices: ReadonlyMap<number, bigint>): PriceSource {
  return async (chainId) => {
    const microUsd = prices.get(chainId)
    return microUsd === undefined ? undefined : { microUsd, asOf: unixNow() }
  }
}

/** The price unless it is older than `maxAge` seconds at `at`. */
export function recentPrice(
  price: NativePrice | undefined,
  at: number,
  maxAge: number,
): NativePrice | undefined {
  return price === undefined || price.asOf < at - maxAge ? undefined : price
}

const NATIVE = 10n ** 18n

/** The worth of `wei` in millionths of a USD, rounded up: the rounding is charged. */
export function toMicroUsd(wei: bigint, microUsd: bigint): bigint {
  return (wei * microUsd + NATIVE - 1n) / NATIVE
}

export function formatUsd(microUsd: bigint): string {
  return `${usdText(microUsd)} USD`
}
