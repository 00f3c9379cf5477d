import type { TransactionReceipt } from '../chain/transactionReceipt.js'
import { operatorFeeOf } from './dataFee/opStack.js'

/** The fields of a receipt that tell what the chain took beside gas. */
export type DataFeeReceipt = Pick<TransactionReceipt, 'gasUsed' | 'l1Fee' | 'operatorFee'>

/**
 * wei that the chain took of a transaction's sender beside its gas, by its receipt: the fee for data and, on
 * the OP stack, the operator's. Undefined when the receipt has no such fields.
 */
export function receiptDataFee({
  gasUsed,
  l1Fee,
  operatorFee,
}: DataFeeReceipt): bigint | undefined {
  if (l1Fee === undefined) return undefined
  return l1Fee + (operatorFee === undefined ? 0n : operatorFeeOf(operatorFee, gasUsed))
}
