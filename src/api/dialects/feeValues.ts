import type { FeeAdvice } from '../../chain/feeAdvice.js'
import type { Fees } from '../../entrypoint/fees.js'

/**
 * The same in both dialects, since one object serves every client: older ones read the flat fields,
 * newer ones the tiers. Decimal strings of wei.
 */
export function encodeFeeValues({ slow, standard, fast }: FeeAdvice) {
  return {
    ...encodeFees(standard),
    slow: encodeFees(slow),
    standard: encodeFees(standard),
    fast: encodeFees(fast),
  }
}

function encodeFees({ maxFeePerGas, maxPriorityFeePerGas }: Fees) {
  return {
    maxPriorityFeePerGas: maxPriorityFeePerGas.toString(),
    maxFeePerGas: maxFeePerGas.toString(),
  }
}
