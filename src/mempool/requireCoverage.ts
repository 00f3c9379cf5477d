import { greatest } from '../base/bigints.js'
import type { EntryPoint, ValidationUse } from '../entrypoint/entryPoint.js'
import { highestBaseFee } from '../entrypoint/highestBaseFee.js'
import type { Operation } from '../entrypoint/operation.js'
import { ValidationRejectedError } from '../errors/operationErrors.js'

/**
 * Gas by which verificationGasLimit must exceed the validation where too little of it reverts the bundle
 * with AA40 or AA51. In a bundle a validation uses a little more than alone: memory costs more there.
 */
const VERIFICATION_SLACK = 2_000n

/**
 * The most gas that the EntryPoint may charge the operation, undefined where it never charges more than
 * the prefund.
 * @throws ValidationRejectedError for an operation that could make a bundle revert at `baseFee` because
 * its prefund does not cover that much gas
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
