/** What is offered per gas, in wei: by an operation, a transaction, or as advice. */
export type Fees = { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }
