/** The bid per gas, in wei: of an operation, a transaction, or as advice. */
export type Fees = { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }

export const noFees: Fees = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
