import type { FeeAdvice, Fees } from '../../chain/feeAdvice.js'

/**
 * The same in both dialects, since one object serves every client: older ones read the flat fields,
 * newer ones the tiers. Decimal strings of wei.
 */
export const encodeFeeValues = ({ slow, standard, fast }: FeeAdvice) => ({
  ...encodeFees(standard),
  slow: encodeFees(slow),
  standard: encodeFees(standard),
  fast: encodeFees(fast),
})

const encodeFees = ({ maxFeePerGas, maxPriorityFeePerGas }: Fees) => ({
  maxPriorityFeePerGas: maxPriorityFeePerGas.toString(),
  maxFeePerGas: maxFeePerGas.toString(),
})
