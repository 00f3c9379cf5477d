import type { CarriedOperation } from '../../gas/copyingGas.js'
import type { StoredOperation } from '../../store/pool/operations.js'

/** The operation with the size of the context that its paymaster returned when it was taken in. */
export function carriedOperation({
  operation,
  firstValidation,
}: Pick<StoredOperation, 'operation' | 'firstValidation'>): CarriedOperation {
  return { op: operation, contextSize: firstValidation?.contextSize ?? 0 }
}
