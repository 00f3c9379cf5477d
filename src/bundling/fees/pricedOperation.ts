import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import { highestBaseFee } from '../../entrypoint/highestBaseFee.js'
import type { Operation } from '../../entrypoint/operation.js'
import type { StoredOperation } from '../../store/pool/operations.js'

/** An operation with the fees that are paid for it. */
export type PricedOperation = Operation & {
  /** wei per gas, see `highestBaseFee`; undefined = none. */
  readonly highestBaseFee?: bigint | undefined
}

/** The operation with the fees that are paid for it: those that it names, or those granted for it. */
export function pricedOperation(
  entryPoint: EntryPoint,
  {
    operation,
    offer,
    mostCharged,
  }: Pick<StoredOperation, 'operation' | 'offer'> & Partial<Pick<StoredOperation, 'mostCharged'>>,
): PricedOperation {
  const { maxFeePerGas, maxPriorityFeePerGas } = offer
  return {
    ...operation,
    maxFeePerGas,
    maxPriorityFeePerGas,
    highestBaseFee: highestBaseFee(entryPoint, operation, mostCharged),
  }
}
