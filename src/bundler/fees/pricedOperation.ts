import type { Hex } from 'viem'
import { greatest } from '../../base/bigints.js'
import { fixedBundleGas } from '../../erc4337/bundleGas.js'
import { highestBaseFee } from '../../erc4337/charges.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import { unmeteredGas } from '../../erc4337/forkGas.js'
import type { Operation } from '../../erc4337/operation.js'
import { type CarriedOperation, contextGas } from '../../gas/copyingGas.js'
import { transactionGas } from '../../gas/preVerificationGas.js'
import type { StoredOperation } from '../../mempool/pool/operations.js'

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
    bid,
    mostCharged,
  }: Pick<StoredOperation, 'operation' | 'bid'> & Partial<Pick<StoredOperation, 'mostCharged'>>,
): PricedOperation {
  const { maxFeePerGas, maxPriorityFeePerGas } = bid
  return {
    ...operation,
    maxFeePerGas,
    maxPriorityFeePerGas,
    highestBaseFee: highestBaseFee(entryPoint, operation, mostCharged),
  }
}

/** The operation with what its validation showed at admission. */
export function carriedOperation({
  operation,
  firstValidation,
}: Pick<StoredOperation, 'operation' | 'firstValidation'>): CarriedOperation {
  const { contextSize = 0, before } = firstValidation ?? {}
  return { op: operation, contextSize, before }
}

/**
 * The gas limit of the transaction that carries the operations with calldata `data`. It follows from the limits
 * of the operations and not from eth_estimateGas: each may use its limits in full when the state has
 * changed by then, and a bundle that runs out of gas reverts as a whole (AA95). Unused gas is not paid.
 */
export function bundleGasLimit(
  entryPoint: EntryPoint,
  carried: readonly CarriedOperation[],
  data: Hex,
): bigint {
  const gas = entryPoint.gas()
  const work = carried.reduce(
    (sum, each) => sum + carriedGas(entryPoint, each),
    fixedBundleGas(entryPoint) + contextGas(entryPoint, carried),
  )
  const { standard, floor } = transactionGas(gas, data)
  return greatest(standard + work, floor)
}

/** Gas that the operation adds to the gas limit of its bundle, with what it adds to the state. */
export function carriedGas(entryPoint: EntryPoint, { op, before }: CarriedOperation): bigint {
  const { authorization } = op
  const gas = entryPoint.gas()
  // The rest of a prefund is among `bundleGas`.
  const added = unmeteredGas(
    { ...gas, newDeposit: 0 },
    { authorization, paymaster: undefined },
    before,
  )
  return entryPoint.bundleGas(op) + BigInt(added)
}
