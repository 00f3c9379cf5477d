import { size } from 'viem/utils'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import { fixedBundleGas } from '../entrypoint/bundleGas.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { Operation } from '../entrypoint/operation.js'
import { OperationLimitError } from '../errors/operationErrors.js'

/** Bytes; the longest signatures in use (passkeys, many owners) are far shorter. */
const MAX_SIGNATURE = 8_192

/** Calldata of handleOps and the transaction's own fields around one operation, in bytes. */
const TRANSACTION_ENVELOPE = 400

type BundleLimits = Pick<ChainDefinition, 'maxBundleGas' | 'maxBundleBytes' | 'maxVerificationGas'>

/**
 * The checks that need no chain: an operation must not contradict itself, and must fit into a bundle at
 * least alone.
 * @throws OperationLimitError, which names the field
 */
export function requireLimits(entryPoint: EntryPoint, op: Operation, limits: BundleLimits): void {
  requireConsistency(op)
  atMost('signature', BigInt(size(op.signature)), BigInt(MAX_SIGNATURE), 'bytes')
  const bytes = size(entryPoint.encodeOperation(op)) + TRANSACTION_ENVELOPE
  const largest = size(op.callData) >= size(op.factoryData) ? 'callData' : 'initCode'
  atMost(largest, BigInt(bytes), BigInt(limits.maxBundleBytes), 'bytes in its bundle')

  const { maxVerificationGas, maxBundleGas } = limits
  atMost('verificationGasLimit', op.verificationGasLimit, maxVerificationGas, 'gas')
  const pmGas = op.paymasterVerificationGasLimit
  atMost('paymasterVerificationGasLimit', pmGas, maxVerificationGas, 'gas')
  atMost('callGasLimit', aloneGas(entryPoint, op, bytes), maxBundleGas, 'gas in its bundle')
}

function requireConsistency(op: Operation): void {
  if (op.maxPriorityFeePerGas > op.maxFeePerGas) {
    throw new OperationLimitError(
      'maxPriorityFeePerGas',
      `${op.maxPriorityFeePerGas} is more than maxFeePerGas ${op.maxFeePerGas}`,
    )
  }
  if (op.factory === undefined && size(op.factoryData) > 0) {
    throw new OperationLimitError('factoryData', 'there is no factory')
  }
  if (op.paymaster !== undefined) return
  for (const field of ['paymasterVerificationGasLimit', 'paymasterPostOpGasLimit'] as const)
    if (op[field] !== 0n) throw new OperationLimitError(field, 'there is no paymaster')
  if (size(op.paymasterData) > 0)
    throw new OperationLimitError('paymasterData', 'there is no paymaster')
}

/** An upper bound of the gas limit of a bundle with this operation alone. */
function aloneGas(entryPoint: EntryPoint, op: Operation, bytes: number): bigint {
  const nonZeroByte = 16n
  const fixed = 21_000n + fixedBundleGas(entryPoint)
  const authorization = op.authorization === undefined ? 0n : 25_000n
  return fixed + BigInt(bytes) * nonZeroByte + entryPoint.bundleGas(op) + authorization
}

function atMost(field: string, value: bigint, limit: bigint, unit: string): void {
  if (value > limit) throw new OperationLimitError(field, `${value} ${unit}, the limit is ${limit}`)
}
