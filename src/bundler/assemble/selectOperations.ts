import type { Address } from 'viem'
import { size } from 'viem/utils'
import { compareBigints, smallest } from '../../base/bigints.js'
import { fixedBundleGas } from '../../erc4337/bundleGas.js'
import type { EntryPoint } from '../../erc4337/entryPoint.js'
import type { Fees } from '../../erc4337/fees.js'
import type { Operation } from '../../erc4337/operation.js'
import { type CarriedOperation, contextGas } from '../../gas/copyingGas.js'
import type { Drop, StoredOperation } from '../../mempool/pool/operations.js'
import type { StoredReputation } from '../../mempool/pool/reputations.js'
import {
  type ReputationStatus,
  statusOf,
  THROTTLED_BLOCKS,
  THROTTLED_OPERATIONS,
} from '../../mempool/reputation.js'
import { assuredTip } from '../fees/bundleFees.js'
import { carriedGas, carriedOperation, pricedOperation } from '../fees/pricedOperation.js'
import { retryGroupSize } from '../outbox/outbox.js'

type BundleCandidate = {
  readonly appId: string
  readonly operation: Operation
  /** wei per gas that is paid for it */
  readonly bid: Fees
  /** Gas that the EntryPoint may charge, where that matters. */
  readonly mostCharged?: bigint | undefined
  /** Number of bundles with this operation that failed on the chain. */
  readonly attempts: number
  readonly receivedAt: Date
} & Pick<StoredOperation, 'firstValidation'>

export type Selection = {
  readonly entryPoint: EntryPoint
  /** wei per gas of the head */
  readonly baseFee: bigint
  /** Fees that the bundle bids when its operations pay them. */
  readonly target: Fees
  /** Least tip (wei per gas) with which a transaction is worth sending now. */
  readonly leastTip: bigint
  readonly limits: { readonly gas: bigint; readonly bytes: number; readonly operations: number }
}

/**
 * The operations of the next bundle, one per sender, within the limits of gas, bytes and number. The apps
 * take turns; of an app go those with the highest assured tip first, then the oldest.
 *
 * An operation that cannot pay `leastTip` over the base fee waits. The first one sets the bundle's tip
 * (never more than that of `target`); others join only when they pay it too, so that none slows the
 * bundle down. The bundle bids no more than that, so turns cost nothing: one app with many operations
 * does not keep others waiting.
 * Operations whose bundles failed before go with those that failed as often, in ever smaller bundles,
 * so that they cannot take others down again.
 */
export function selectOperations<C extends BundleCandidate>(
  candidates: readonly C[],
  { entryPoint, baseFee, target, leastTip, limits }: Selection,
): C[] {
  const ranked = candidates
    .map((candidate) => ({
      candidate,
      tip: assuredTip(entryPoint, pricedOperation(entryPoint, candidate), baseFee),
    }))
    .filter(({ tip }) => tip >= leastTip)
    .sort(
      (a, b) =>
        compareBigints(b.tip, a.tip) ||
        a.candidate.receivedAt.getTime() - b.candidate.receivedAt.getTime(),
    )
  const first = ranked[0]
  if (!first) return []

  const { attempts } = first.candidate
  const maxOperations = Math.min(limits.operations, retryGroupSize(attempts))
  const bundleTip = smallest(first.tip, target.maxPriorityFeePerGas)
  const senders = new Set<string>()
  const chosen: C[] = []
  let copied: readonly CarriedOperation[] = []
  let gas = fixedGas(entryPoint)
  let bytes = ENVELOPE_BYTES
  const paying = ranked
    .filter(({ candidate, tip }) => tip >= bundleTip && candidate.attempts === attempts)
    .map(({ candidate }) => candidate)
  for (const candidate of inTurns(paying)) {
    const { operation } = candidate
    if (chosen.length === maxOperations) break
    if (senders.has(operation.sender)) continue
    const addedBytes = operationBytes(entryPoint, operation)
    const carried = carriedOperation(candidate)
    const withCopied = [...copied, carried].filter(({ contextSize }) => contextSize > 0)
    const nextGas = gas + gasOf(entryPoint, candidate, addedBytes)
    const nextBytes = bytes + addedBytes
    const allGas = nextGas + contextGas(entryPoint, withCopied)
    if (chosen.length > 0 && (allGas > limits.gas || nextBytes > limits.bytes)) continue
    senders.add(operation.sender)
    chosen.push(candidate)
    copied = withCopied
    gas = nextGas
    bytes = nextBytes
  }
  return chosen
}

type Carried = Pick<StoredOperation, 'operation' | 'firstValidation'>

/** Gas of a bundle with this operation alone. */
export function aloneGas(entryPoint: EntryPoint, candidate: Carried): bigint {
  const bytes = operationBytes(entryPoint, candidate.operation)
  const context = contextGas(entryPoint, [carriedOperation(candidate)])
  return fixedGas(entryPoint) + gasOf(entryPoint, candidate, bytes) + context
}

/** Gas of a bundle whatever it carries. */
function fixedGas(entryPoint: EntryPoint): bigint {
  return BigInt(entryPoint.gas().transaction) + fixedBundleGas(entryPoint)
}

/** Gas that the operation, of so many bytes, adds to a bundle, without copies of its context. */
function gasOf(entryPoint: EntryPoint, candidate: Carried, bytes: number): bigint {
  const data = BigInt(bytes * entryPoint.gas().byte)
  return carriedGas(entryPoint, carriedOperation(candidate)) + data
}

/** The first candidate of each app, then the second of each, and so on. */
function inTurns<C extends BundleCandidate>(candidates: readonly C[]): C[] {
  const counts = new Map<string, number>()
  return candidates
    .map((candidate) => {
      const turn = counts.get(candidate.appId) ?? 0
      counts.set(candidate.appId, turn + 1)
      return { candidate, turn }
    })
    .sort((a, b) => a.turn - b.turn)
    .map(({ candidate }) => candidate)
}

/** The transaction's own fields and the frame of handleOps, at most. */
const ENVELOPE_BYTES = 400

/** Bytes that the operation adds to the transaction: its encoding, its offset word and its tuple. */
function operationBytes(entryPoint: EntryPoint, op: Operation): number {
  const tuple = op.authorization === undefined ? 0 : AUTHORIZATION_BYTES
  return size(entryPoint.encodeOperation(op)) + 32 + tuple
}

/** An EIP-7702 tuple in RLP, at most. */
const AUTHORIZATION_BYTES = 120

/**
 * The candidates, in their order, that reputation allows in a bundle at block `head`. An operation of a banned entity is
 * dropped (GREP-010). Of a throttled entity four may go, the best first; one that waited longer than
 * ten blocks is dropped (GREP-020).
 */
export function limitByReputation(
  candidates: readonly StoredOperation[],
  reputations: readonly StoredReputation[],
  head: bigint,
) {
  const statuses = new Map<Address, ReputationStatus>()
  for (const reputation of reputations) {
    const status = statusOf(reputation, reputation.pending)
    if (status !== 'ok') statuses.set(reputation.address, status)
  }
  if (statuses.size === 0) return { allowed: candidates, drops: [] }

  const allowed: StoredOperation[] = []
  const drops: Drop[] = []
  const chosen = new Map<Address, number>()
  for (const stored of candidates) {
    const { hash, operation, factory, seenBlock } = stored
    const entities = [operation.sender, factory, operation.paymaster].filter(
      (address) => address !== undefined,
    )
    const banned = entities.find((address) => statuses.get(address) === 'banned')
    const throttled = entities.filter((address) => statuses.get(address) === 'throttled')
    if (banned) {
      drops.push({ hash, code: 'GREP-010', reason: `${banned} is banned by its reputation` })
    } else if (throttled.length > 0 && head > seenBlock + THROTTLED_BLOCKS) {
      const reason = `${throttled[0]} is throttled, and the operation waited ${head - seenBlock} blocks`
      drops.push({ hash, code: 'GREP-020', reason })
    } else if (throttled.every((entity) => (chosen.get(entity) ?? 0) < THROTTLED_OPERATIONS)) {
      for (const entity of throttled) chosen.set(entity, (chosen.get(entity) ?? 0) + 1)
      allowed.push(stored)
    }
  }
  return { allowed, drops }
}
