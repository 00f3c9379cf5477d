import { formatUnits } from 'viem/utils'
import type { TokenDefinition } from '../chain/tokenDefinition.js'

/** `12.5 USDC` */
export function formatTokens(units: bigint, { decimals, symbol }: TokenDefinition): string {
  return `${formatUnits(units, decimals)} ${symbol}`
}

/**
 * Units in whole tokens as the float that clients calculate with: never less than they are, also when
 * it is multiplied out and rounded up as clients do.
 */
export function toFloatUp(units: bigint, decimals: number): number {
  const scale = 10 ** decimals
  for (let float = Number(formatUnits(units, decimals)); ; float *= 1 + Number.EPSILON) {
    if (BigInt(Math.ceil(float * scale)) >= units) return float
  }
}
