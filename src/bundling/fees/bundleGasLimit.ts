import type { Hex } from 'viem'
import { fixedBundleGas } from '../../entrypoint/bundleGas.js'
import type { EntryPoint } from '../../entrypoint/entryPoint.js'
import type { Operation } from '../../entrypoint/operation.js'

const TRANSACTION_GAS = 21_000n
const TOKEN_GAS = 4n
/** EIP-7623 */
const FLOOR_TOKEN_GAS = 10n

/**
 * Gas limit of the transaction that carries `ops` with calldata `data`. Derived from the operations'
 * own limits and not from eth_estimateGas: each may use its limits in full when the state has changed
 * by then, and a bundle that runs out of gas takes everyone down (AA95). Unused gas is not paid.
 */
export function bundleGasLimit(
  entryPoint: EntryPoint,
  ops: readonly Operation[],
  data: Hex,
): bigint {
  const tokens = calldataTokens(data)
  const work = ops.reduce(
    (sum, op) => sum + entryPoint.bundleGas(op) + authorizationGas(op),
    fixedBundleGas(entryPoint),
  )
  const metered = TRANSACTION_GAS + tokens * TOKEN_GAS + work
  const floor = TRANSACTION_GAS + tokens * FLOOR_TOKEN_GAS
  return metered > floor ? metered : floor
}

/** EIP-7702: PER_EMPTY_ACCOUNT_COST of the tuple that the operation brings, charged beforehand. */
export function authorizationGas({ authorization }: Pick<Operation, 'authorization'>): bigint {
  return authorization === undefined ? 0n : 25_000n
}

/** EIP-7623 tokens: one per zero byte, four per other byte. */
function calldataTokens(data: Hex): bigint {
  let tokens = 0
  for (let i = 2; i < data.length; i += 2) tokens += data.startsWith('00', i) ? 1 : 4
  return BigInt(tokens)
}
