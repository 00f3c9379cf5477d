import { greatest, smallest } from '../../base/bigints.js'
import type { Operation } from '../operation.js'

/** The share of unused gas that v0.7 and later charge (UNUSED_GAS_PENALTY_PERCENT), as a divisor. */
const UNUSED_SHARE = 10n
/** Unused gas up to which v0.8 and later charge none of it (PENALTY_GAS_THRESHOLD). */
const FREE_UNUSED = 40_000n

/**
 * v0.7: of u gas used under limits of L in all, u + (L - u) / 10 are charged, so L / 10 at least. Without a
 * paymaster there is no limit of postOp.
 */
export function leastChargeOfUnused(
  op: Pick<Operation, 'callGasLimit' | 'paymaster' | 'paymasterPostOpGasLimit'>,
): bigint {
  const postOp = op.paymaster === undefined ? 0n : op.paymasterPostOpGasLimit
  return (op.callGasLimit + postOp) / UNUSED_SHARE
}

/**
 * v0.8 and later: the same of the call's limit alone, and only where more than 40,000 of it are unused. A call may
 * leave exactly these: then it used the rest. The limit of postOp counts where there is a context, which is not
 * known here.
 */
export function leastChargeAboveThreshold({
  callGasLimit,
}: Pick<Operation, 'callGasLimit'>): bigint {
  return greatest(smallest(callGasLimit / UNUSED_SHARE, callGasLimit - FREE_UNUSED), 0n)
}
