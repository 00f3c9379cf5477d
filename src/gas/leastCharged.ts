import type { ChargedGas } from '../chain/definition/chargedGas.js'

/** The least gas that the chain charges for a transaction with this gas limit, whatever it uses. */
export function leastCharged(chargedGas: ChargedGas, limit: bigint): bigint {
  if (chargedGas === 'used') return 0n
  return chargedGas === 'limit' ? limit : (limit + 1n) / 2n
}
