import type { Fees } from '../entrypoint/fees.js'

/**
 * The transactions that a chain's nodes take: those of EIP-1559, or only older ones with one gas price (`legacy`), where
 * no header has a base fee.
 */
export const transactionTypes = ['eip1559', 'legacy'] as const

export type TransactionType = (typeof transactionTypes)[number]

/**
 * The price of a transaction as the chain's nodes take it, in wei per gas. Without a base fee the tip is all that a
 * transaction pays, so it is the gas price of a legacy one.
 */
export function pricedBy(
  type: TransactionType | undefined,
  fees: Fees,
): Fees | { readonly gasPrice: bigint } {
  return type === 'legacy' ? { gasPrice: fees.maxPriorityFeePerGas } : fees
}
