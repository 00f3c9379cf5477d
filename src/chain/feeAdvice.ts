import type { Fees } from '../entrypoint/fees.js'

/** Three levels of fees, the result of biconomy_getGasFeeValues before a dialect writes it. */
export type FeeAdvice = { readonly slow: Fees; readonly standard: Fees; readonly fast: Fees }
