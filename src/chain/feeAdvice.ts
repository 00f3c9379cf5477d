/** wei per gas */
export type Fees = { readonly maxFeePerGas: bigint; readonly maxPriorityFeePerGas: bigint }

/** What biconomy_getGasFeeValues answers, before a dialect writes it. */
export type FeeAdvice = { readonly slow: Fees; readonly standard: Fees; readonly fast: Fees }
