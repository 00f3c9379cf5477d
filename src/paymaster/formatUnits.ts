import { formatUnits } from 'viem/utils'
import type { TokenDefinition } from '../chain/definition/tokenDefinition.js'

/** An amount for people, such as `12.5 USDC`. */
export function formatTokens(units: bigint, { decimals, symbol }: TokenDefinition): string {
  return `${formatUnits(units, decimals)} ${symbol}`
}

/**
 * The amount in whole tokens as a float, in which clients calculate. It is never too small:
 * multiplied out and rounded up, as clients do, it gives at least `units`.
 */
export function toFloatUp(units: bigint, decimals: number): number {
  const scale = 10 ** decimals
  for (let float = Number(formatUnits(units, decimals)); ; float *= 1 + Number.EPSILON) {
    if (BigInt(Math.ceil(float * scale)) >= units) return float
  }
}
