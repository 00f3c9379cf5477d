import type { Hex } from 'viem'
import type { Operation } from '../entrypoint/operation.js'
import {
  AlreadyBundledError,
  MempoolFullError,
  PaymasterDepositError,
  ReplacementUnderpricedError,
} from '../errors/operationErrors.js'
import type { PurserError } from '../errors/purserError.js'
import type { Occupancy } from '../store/admissions.js'
import { replacementFees } from './replacement.js'

export type AdmissionLimits = {
  readonly maxOperationsPerSender: number
  readonly maxOperations: number
}

type Candidate = {
  readonly operation: Operation
  /** wei */
  readonly prefund: bigint
  /** wei in the paymaster's deposit; undefined without a paymaster. */
  readonly deposit: bigint | undefined
}

export type AdmissionDecision =
  | { readonly kind: 'known' }
  | { readonly kind: 'insert'; readonly replaces: Hex | undefined }
  | { readonly kind: 'refuse'; readonly error: PurserError }

/**
 * What becomes of a valid operation, given what the pool holds:
 * - one that is pooled, bundled or included already is `known`; a dropped or replaced one may come
 *   back;
 * - the same sender and nonce: refused when the other is in a signed bundle (AlreadyBundledError) or
 *   the fees are not 10 % higher (ReplacementUnderpricedError);
 * - limits per sender and in all (MempoolFullError), which a replacement does not touch;
 * - the paymaster's deposit covers this and all its other pending operations (EREP-010,
 *   PaymasterDepositError).
 */
export function decideAdmission(
  { operation, prefund, deposit }: Candidate,
  pool: Occupancy,
  limits: AdmissionLimits,
): AdmissionDecision {
  if (pool.known === 'pooled' || pool.known === 'bundled' || pool.known === 'included') {
    return { kind: 'known' }
  }
  const { slot } = pool
  if (slot?.state === 'bundled') return refuse(new AlreadyBundledError(slot.hash))
  if (slot) {
    const least = replacementFees(slot)
    if (
      operation.maxFeePerGas < least.maxFeePerGas ||
      operation.maxPriorityFeePerGas < least.maxPriorityFeePerGas
    ) {
      const { maxFeePerGas, maxPriorityFeePerGas } = least
      return refuse(new ReplacementUnderpricedError(slot.hash, maxFeePerGas, maxPriorityFeePerGas))
    }
  } else {
    const full = limitReached(operation, pool, limits)
    if (full) return refuse(full)
  }
  if (operation.paymaster !== undefined && deposit !== undefined) {
    const freed = slot?.paymaster === operation.paymaster ? slot.prefund : 0n
    const required = pool.paymasterPending - freed + prefund
    if (deposit < required) {
      return refuse(new PaymasterDepositError(operation.paymaster, deposit, required))
    }
  }
  return { kind: 'insert', replaces: slot?.hash }
}

function limitReached(
  { sender }: Operation,
  { ofSender, total }: Occupancy,
  { maxOperationsPerSender, maxOperations }: AdmissionLimits,
): MempoolFullError | undefined {
  if (ofSender >= maxOperationsPerSender) {
    return new MempoolFullError(
      `sender ${sender} has ${ofSender} pending operations, the limit is ${maxOperationsPerSender}. Wait until one is included.`,
    )
  }
  if (total >= maxOperations) {
    return new MempoolFullError(
      `the pool holds ${total} operations, the limit is ${maxOperations}. Try again shortly.`,
    )
  }
  return undefined
}

function refuse(error: PurserError): AdmissionDecision {
  return { kind: 'refuse', error }
}
