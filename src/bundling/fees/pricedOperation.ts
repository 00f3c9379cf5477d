import type { Operation } from '../../entrypoint/operation.js'
import type { StoredOperation } from '../../store/pool/operations.js'

/** The operation with the fees that are paid for it: those that it names, or those granted for it. */
export function pricedOperation({
  operation,
  offer,
}: Pick<StoredOperation, 'operation' | 'offer'>): Operation {
  const { maxFeePerGas, maxPriorityFeePerGas } = offer
  return { ...operation, maxFeePerGas, maxPriorityFeePerGas }
}
