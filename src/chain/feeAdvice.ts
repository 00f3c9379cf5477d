import type { Fees } from '../entrypoint/fees.js'

/** What biconomy_getGasFeeValues answers, before a dialect writes it. */
export type FeeAdvice = { readonly slow: Fees; readonly standard: Fees; readonly fast: Fees }
