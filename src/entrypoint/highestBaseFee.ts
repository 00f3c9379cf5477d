import type { EntryPoint } from './entryPoint.js'
import type { Operation } from './operation.js'

/**
 * The highest base fee (wei per gas) at which the prefund is sure to cover the charge of an operation of
 * which the EntryPoint may charge `mostCharged` gas; above it the operation may make its whole bundle
 * revert (AA51). Negative where it may at any base fee, as v0.6 charges maxFeePerGas when both fees are
 * the same. Undefined where it never does.
 */
export function highestBaseFee(
  entryPoint: EntryPoint,
  op: Operation,
  mostCharged: bigint | undefined,
): bigint | undefined {
  if (mostCharged === undefined) return undefined
  const coveredPrice = entryPoint.requiredPrefund(op) / mostCharged
  return coveredPrice >= op.maxFeePerGas ? undefined : coveredPrice - op.maxPriorityFeePerGas
}
