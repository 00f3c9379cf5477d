import { size } from 'viem/utils'
import { greatest } from '../base/bigints.js'
import { OperationLimitError, ValidationRejectedError } from '../base/errors/operationErrors.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import { fixedBundleGas, mostBundleGas } from '../erc4337/bundleGas.js'
import { highestBaseFee } from '../erc4337/charges.js'
import type { EntryPoint, ValidationUse } from '../erc4337/entryPoint.js'
import { unmeteredGas } from '../erc4337/forkGas.js'
import type { Operation } from '../erc4337/operation.js'

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
  const most = mostBundleGas(entryPoint, maxBundleGas)
  atMost('callGasLimit', aloneGas(entryPoint, op, bytes), most, 'gas in its bundle')
}

/**
 * Bytes and validation gas of an operation whose authorization (EIP-7702) is to be applied: its sender can have the bundle
 * revert by raising the nonce of its account in the same block, at the cost of one transaction.
 */
const MAX_DELEGATING_BYTES = 8_192
const MAX_DELEGATING_GAS = 1_000_000n

/**
 * Bounds what a reverted bundle costs that goes for its authorization alone.
 * @throws OperationLimitError, which names the field
 */
export function requireSmallDelegation(entryPoint: EntryPoint, op: Operation): void {
  if (op.authorization === undefined) return
  const advice = 'with eip7702Auth; delegate with a smaller operation first'
  const bytes = BigInt(size(entryPoint.encodeOperation(op)))
  atMost('callData', bytes, BigInt(MAX_DELEGATING_BYTES), `bytes of an operation ${advice}`)
  const gas = op.verificationGasLimit + op.paymasterVerificationGasLimit
  atMost('verificationGasLimit', gas, MAX_DELEGATING_GAS, `gas of validation ${advice}`)
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
  const gas = entryPoint.gas()
  const fixed = BigInt(gas.transaction + bytes * gas.byte) + fixedBundleGas(entryPoint)
  return fixed + entryPoint.bundleGas(op) + BigInt(unmeteredGas(gas, op))
}

function atMost(field: string, value: bigint, limit: bigint, unit: string): void {
  if (value > limit) throw new OperationLimitError(field, `${value} ${unit}, the limit is ${limit}`)
}

/**
 * Gas by which verificationGasLimit must exceed the validation where too little of it reverts the bundle
 * with AA40 or AA51. In a bundle a validation uses a little more than alone: memory costs more there.
 */
const VERIFICATION_SLACK = 2_000n

/**
 * The most gas that the EntryPoint may charge the operation, undefined where it never charges more than
 * the prefund.
 * @throws ValidationRejectedError for an operation that could make a bundle revert at `baseFee`, the head's with the least tip of
 * bundles, because its prefund does not cover that much gas: no bundle would take it
 */
export function requireCoverage(
  entryPoint: EntryPoint,
  op: Operation,
  validated: ValidationUse,
  baseFee: bigint,
): bigint | undefined {
  const mostCharged = entryPoint.mostCharged(op, validated)
  if (mostCharged === undefined) return undefined
  const least = validated.verificationGasUsed + VERIFICATION_SLACK
  if (op.verificationGasLimit < least) {
    throw new ValidationRejectedError({
      message: `AA40 over verificationGasLimit: ${op.verificationGasLimit}, send at least ${least}`,
      rule: 'AA40',
    })
  }
  const limit = highestBaseFee(entryPoint, op, mostCharged)
  if (limit === undefined || limit >= baseFee) return mostCharged
  const price = entryPoint.gasPrice(op, baseFee)
  const shortGas = greatest(
    ceilingOf(mostCharged * price, op.maxFeePerGas) - entryPoint.chargeableGas(op),
    1n,
  )
  const shortFee = ceilingOf(mostCharged * price, entryPoint.chargeableGas(op))
  const feeAdvice =
    op.maxFeePerGas === op.maxPriorityFeePerGas ? '' : `, or maxFeePerGas of at least ${shortFee}`
  throw new ValidationRejectedError({
    message: `AA51 prefund below actualGasCost: the operation may be charged ${mostCharged} gas at ${price} wei, its prefund is ${entryPoint.requiredPrefund(op)} wei: send verificationGasLimit of at least ${op.verificationGasLimit + shortGas}${feeAdvice}`,
    rule: 'AA51',
  })
}

function ceilingOf(dividend: bigint, divisor: bigint): bigint {
  return (dividend + divisor - 1n) / divisor
}
