import type { Hex } from 'viem'
import { greatest } from '../../base/bigints.js'
import { fixedBundleGas } from '../../entrypoint/bundleGas.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'
import { type CarriedOperation, contextGas } from '../../gas/copyingGas.js'

const TRANSACTION_GAS = 21_000n
const TOKEN_GAS = 4n
/** EIP-7623 */
const FLOOR_TOKEN_GAS = 10n

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
  const tokens = calldataTokens(data)
  const work = carried.reduce(
    (sum, { op }) => sum + entryPoint.bundleGas(op) + authorizationGas(op),
    fixedBundleGas(entryPoint) + contextGas(entryPoint, carried),
  )
  const metered = TRANSACTION_GAS + tokens * TOKEN_GAS + work
  const floor = TRANSACTION_GAS + tokens * FLOOR_TOKEN_GAS
  return greatest(metered, floor)
}

/** Gas of the operation's EIP-7702 tuple, charged before execution: PER_EMPTY_ACCOUNT_COST, or 0. */
export function authorizationGas({ authorization }: Pick<Operation, 'authorization'>): bigint {
  return authorization === undefined ? 0n : 25_000n
}

/** EIP-7623 tokens: one per zero byte, four per other byte. */
function calldataTokens(data: Hex): bigint {
  let tokens = 0
  for (let i = 2; i < data.length; i += 2) tokens += data.startsWith('00', i) ? 1 : 4
  return BigInt(tokens)
}
