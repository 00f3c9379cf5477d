import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { Operation } from '../erc4337/operation.js'

/**
 * Gas that the EntryPoint may charge an operation beyond the sum of its limits: it meters its own work
 * around the call, up to 2,048 bytes of revert reason (v0.7 and later: of postOp as well). The
 * EntryPoint collects nothing beyond the prefund.
 */
const BEYOND_LIMITS = 25_000n
const BEYOND_POST_OP_LIMIT = 25_000n

/** The most gas that the EntryPoint may charge `op`, if its payer had the money. */
export function maxChargedGas(entryPoint: EntryPoint, op: Operation): bigint {
  const postOp = op.paymaster === undefined ? 0n : BEYOND_POST_OP_LIMIT
  return entryPoint.chargeableGas(op) + BEYOND_LIMITS + postOp
}

/** The least maxFeePerGas with which an operation of these limits has `price` as its highest one, at least. */
export function leastMaxFee(entryPoint: EntryPoint, op: Operation, price: bigint): bigint {
  const paid = entryPoint.chargeableGas(op)
  return (price * maxChargedGas(entryPoint, op) + paid - 1n) / paid
}

/**
 * The highest price (wei per gas) at which the operation's prefund pays for all the gas that it may
 * cause, whatever its contracts do.
 */
export function highestPrice(entryPoint: EntryPoint, op: Operation): bigint {
  return entryPoint.requiredPrefund(op) / maxChargedGas(entryPoint, op)
}
