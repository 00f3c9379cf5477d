import type { Address, Hex } from 'viem'
import { greatest, smallest } from '../base/bigints.js'
import {
  AlreadyBundledError,
  MempoolFullError,
  PaymasterDepositError,
  ReplacementUnderpricedError,
} from '../base/errors/operationErrors.js'
import type { PurserError } from '../base/errors/purserError.js'
import { UnstakedEntityFullError } from '../base/errors/ruleErrors.js'
import type { Fees } from '../erc4337/fees.js'
import type { Operation } from '../erc4337/operation.js'
import type { PooledOperation, PoolSlot } from './pool/admissionFacts.js'
import type { OperationState } from './pool/operations.js'

export type AdmissionLimits = {
  /** Of an unstaked sender (UREP-010); a staked one has no such limit (SREP-040). */
  readonly maxOperationsPerSender: number
  readonly maxOperationsPerApp: number
  readonly maxOperations: number
}

/** The state of one chain's pool that decides about an admission. */
export type Occupancy = {
  /** State of this very operation, when it is known. */
  readonly known: OperationState | undefined
  /** The live operation with the same EntryPoint, sender and nonce. */
  readonly slot: PoolSlot | undefined
  /** Live operations of the sender in this EntryPoint, of the app, and on the whole chain. */
  readonly ofSender: number
  readonly ofApp: number
  readonly total: number
  /** wei that live operations may take from the paymaster's deposit. */
  readonly paymasterPending: bigint
  /** The pooled operation that pays least and is of another sender; unknown while the pool is not full. */
  readonly cheapest: PooledOperation | undefined
}

type AdmissionCandidate = {
  readonly operation: Operation
  /** wei per gas that is paid for it; absent = its own fees */
  readonly bid?: Fees
  /** wei */
  readonly prefund: bigint
  /** wei in the paymaster's deposit; undefined without a paymaster. */
  readonly deposit: bigint | undefined
  /** wei per gas of the head at which it was valid */
  readonly baseFee: bigint
}

export type AdmissionDecision =
  | { readonly kind: 'known' }
  | {
      readonly kind: 'insert'
      readonly replaces: PoolSlot | undefined
      readonly evicts: PooledOperation | undefined
    }
  | { readonly kind: 'refuse'; readonly error: PurserError }

/**
 * The decision about a valid operation, given the state of the pool:
 * - one that is pooled, bundled or included already is `known`; a dropped or replaced one may come
 *   back;
 * - the same sender and nonce: refused when the other is in a signed bundle (AlreadyBundledError) or
 *   the fees are not 10 % higher (ReplacementUnderpricedError);
 * - limits per sender (UnstakedEntityFullError) and app (MempoolFullError), which a replacement does
 *   not touch;
 * - a full pool replaces its cheapest operation by one that pays the bundler 10 % more, and
 *   refuses others (MempoolFullError);
 * - the paymaster's deposit covers this and all its other pending operations (EREP-010,
 *   PaymasterDepositError).
 */
export function decideAdmission(
  candidate: AdmissionCandidate,
  pool: Occupancy,
  limits: AdmissionLimits,
): AdmissionDecision {
  if (pool.known === 'pooled' || pool.known === 'bundled' || pool.known === 'included') {
    return { kind: 'known' }
  }
  const { operation, prefund, deposit, baseFee, bid = operation } = candidate
  const { slot } = pool
  let evicts: PooledOperation | undefined
  if (slot?.state === 'bundled') return refuse(new AlreadyBundledError(slot.hash))
  if (slot) {
    const minimum = minimumReplacement(slot)
    if (
      bid.maxFeePerGas < minimum.maxFeePerGas ||
      bid.maxPriorityFeePerGas < minimum.maxPriorityFeePerGas
    ) {
      const { maxFeePerGas, maxPriorityFeePerGas } = minimum
      return refuse(new ReplacementUnderpricedError(slot.hash, maxFeePerGas, maxPriorityFeePerGas))
    }
  } else {
    const limitError = checkShares(operation, pool, limits)
    if (limitError) return refuse(limitError)
    if (pool.total >= limits.maxOperations) {
      evicts = evictable(pool.cheapest, bid, baseFee)
      if (!evicts) return refuse(poolFull(pool, limits, baseFee))
    }
  }
  const { paymaster } = operation
  if (paymaster !== undefined && deposit !== undefined) {
    const freed = pendingOf(slot, paymaster) + pendingOf(evicts, paymaster)
    const required = pool.paymasterPending - freed + prefund
    if (deposit < required) return refuse(new PaymasterDepositError(paymaster, deposit, required))
  }
  return { kind: 'insert', replaces: slot, evicts }
}

/** The refusal by the limits per sender and app. */
function checkShares(
  { sender }: Operation,
  { ofSender, ofApp }: Occupancy,
  { maxOperationsPerSender, maxOperationsPerApp }: AdmissionLimits,
): PurserError | undefined {
  if (ofSender >= maxOperationsPerSender) {
    const account = { role: 'account', address: sender }
    return new UnstakedEntityFullError(account, 'UREP-010', maxOperationsPerSender)
  }
  if (ofApp >= maxOperationsPerApp) {
    return new MempoolFullError(
      `this key's app has ${ofApp} pending operations, the limit is ${maxOperationsPerApp}. Wait until some are included.`,
    )
  }
  return undefined
}

/** The cheapest operation, if this one bids enough to take its place. */
function evictable(
  cheapest: PooledOperation | undefined,
  bid: Fees,
  baseFee: bigint,
): PooledOperation | undefined {
  if (!cheapest) return undefined
  const tip = tipAt(bid, baseFee)
  return tip >= raiseFee(tipAt(cheapest, baseFee)) ? cheapest : undefined
}

function poolFull(
  { total, cheapest }: Occupancy,
  { maxOperations }: AdmissionLimits,
  baseFee: bigint,
): MempoolFullError {
  const advice = cheapest
    ? `Bid at least ${raiseFee(tipAt(cheapest, baseFee))} wei per gas above the base fee, or try again shortly.`
    : 'Try again shortly.'
  return new MempoolFullError(
    `the pool holds ${total} operations, the limit is ${maxOperations}. ${advice}`,
  )
}

function pendingOf(
  pooled: { readonly paymaster: Address | null; readonly prefund: bigint } | undefined,
  paymaster: Address,
): bigint {
  return pooled?.paymaster === paymaster ? pooled.prefund : 0n
}

function refuse(error: PurserError): AdmissionDecision {
  return { kind: 'refuse', error }
}

/** Reasons for which an operation leaves the pool for another one, as they are stored. */
export const displacement = {
  replaced: (by: Hex) =>
    ({
      state: 'replaced',
      code: 'REPLACED',
      reason: `replaced by operation ${by} with higher fees`,
    }) as const,
  evicted: (by: Hex) =>
    ({
      state: 'dropped',
      code: 'EVICTED',
      reason: `the pool was full and operation ${by} bid more; send it again with higher fees`,
    }) as const,
  /** The reason of an operation whose predecessor `behind` was evicted; worded as in `dropSuccessors`. */
  stranded: (behind: Hex, nonce: bigint, by: Hex) =>
    ({
      state: 'dropped',
      code: 'PREDECESSOR_DROPPED',
      reason: `operation ${behind} with nonce ${nonce} of the same account had to go first and was dropped (${displacement.evicted(by).reason}): send that nonce again, then this operation`,
    }) as const,
}

/**
 * The least fees with which an operation takes the place of a pooled one with the same sender and
 * nonce.
 */
export function minimumReplacement(pooled: Fees): Fees {
  return {
    maxFeePerGas: raiseFee(pooled.maxFeePerGas),
    maxPriorityFeePerGas: raiseFee(pooled.maxPriorityFeePerGas),
  }
}

/** The fee raised by 10 %, rounded up, and by at least 1 wei: displacing a zero fee is not free. */
export function raiseFee(fee: bigint): bigint {
  const raised = (fee * 11n + 9n) / 10n
  return raised > fee ? raised : fee + 1n
}

/** The tip in wei per gas that an operation bids the bundler at `baseFee`; never negative. */
export function tipAt({ maxFeePerGas, maxPriorityFeePerGas }: Fees, baseFee: bigint): bigint {
  return greatest(smallest(maxFeePerGas - baseFee, maxPriorityFeePerGas), 0n)
}
