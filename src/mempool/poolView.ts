import type { Address, Hex } from 'viem'
import { smallest } from '../base/bigints.js'
import type { Operation } from '../erc4337/operation.js'
import type { AdmittedEntities } from './createEntityView.js'
import { type AdmissionDecision, displacement, type Occupancy } from './decideAdmission.js'
import type { PooledOperation, PoolSlot } from './pool/admissionFacts.js'
import { scopeNames } from './pool/bounds.js'
import type { OperationState } from './pool/operations.js'
import { bidOf, type DisplacedState, type NewOperation } from './pool/putOperations.js'

export type Admission = {
  readonly entry: Omit<NewOperation, 'counted'>
  /** wei in the paymaster's deposit; undefined without a paymaster. */
  readonly deposit: bigint | undefined
  /** wei per gas of the head at which the operation was found valid */
  readonly baseFee: bigint
  /** Undefined where no reputation is kept (rules are off). */
  readonly entities: AdmittedEntities | undefined
}

/** The pool as a transaction of admissions has read it. Counts may be too big, never too small. */
export type PoolFacts = {
  readonly known: ReadonlyMap<Hex, OperationState>
  /** By `slotName`. */
  readonly slots: ReadonlyMap<string, PoolSlot>
  /** By `senderName`. */
  readonly ofSender: ReadonlyMap<string, number>
  /** By scope: live operations of pool and apps, wei of paymasters. */
  readonly totals: ReadonlyMap<string, bigint>
  /**
   * Enough of the cheapest pooled operations for all admissions, and operations that wait behind them;
   * empty while the pool is not full.
   */
  readonly cheapest: readonly PooledOperation[]
  /** Live operations with an authorization (EIP-7702), of the candidates' senders that send one, over all EntryPoints. */
  readonly delegating: ReadonlyMap<Hex, Operation>
}

export function senderName(entryPoint: Address, sender: Address): string {
  return `${entryPoint} ${sender}`
}

export function slotName(entryPoint: Address, sender: Address, nonce: bigint): string {
  return `${senderName(entryPoint, sender)} ${nonce}`
}

/** An operation that this transaction puts into the pool, and the state in which it leaves it there. */
type Put = { readonly entry: NewOperation; readonly standing: DisplacedState }

/** The state of an operation that leaves the pool, as it is stored. */
type LeavingState = DisplacedState & { readonly state: OperationState }

/**
 * The pool as it becomes while admissions are decided one after the other, in memory, and the changes
 * that must be written at the end.
 */
export type PoolView = {
  readonly known: Map<Hex, OperationState>
  readonly slots: Map<string, PoolSlot>
  readonly ofSender: Map<string, number>
  readonly totals: Map<string, bigint>
  readonly pooled: Map<Hex, PooledOperation>
  readonly delegating: Map<Hex, Operation>
  readonly puts: Map<Hex, Put>
  /** Stored operations that leave the pool. */
  readonly displaced: Map<Hex, DisplacedState>
}

export function createPoolView(facts: PoolFacts): PoolView {
  return {
    known: new Map(facts.known),
    slots: new Map(facts.slots),
    ofSender: new Map(facts.ofSender),
    totals: new Map(facts.totals),
    pooled: new Map(facts.cheapest.map((operation) => [operation.hash, operation])),
    delegating: new Map(facts.delegating),
    puts: new Map(),
    displaced: new Map(),
  }
}

/** The part of the pool that concerns a candidate. */
export function occupancyOf(view: PoolView, { entry, baseFee }: Admission): Occupancy {
  const { hash, entryPoint, appId, operation } = entry
  const { sender, nonce, paymaster } = operation
  const total = (scope: string) => view.totals.get(scope) ?? 0n
  return {
    known: view.known.get(hash),
    slot: view.slots.get(slotName(entryPoint, sender, nonce)),
    ofSender: view.ofSender.get(senderName(entryPoint, sender)) ?? 0,
    ofApp: Number(total(scopeNames.app(appId))),
    total: Number(total(scopeNames.pool)),
    paymasterPending: paymaster ? total(scopeNames.paymaster(entryPoint, paymaster)) : 0n,
    cheapest: cheapestExcept(view, sender, baseFee),
  }
}

/** Brings the view to the state after a decision. `counted`: entities whose opsSeen it raises. */
export function applyDecision(
  view: PoolView,
  { entry }: Admission,
  decision: AdmissionDecision,
  counted: readonly Address[],
): void {
  if (decision.kind !== 'insert') return
  const { replaces, evicts } = decision
  const { hash, entryPoint, appId, operation, prefund } = entry
  const { sender, nonce } = operation
  if (replaces) {
    displace(view, replaces.hash, displacement.replaced(hash))
    count(view, replaces, entryPoint, -1n)
    addToSender(view, entryPoint, sender, -1)
  }
  if (evicts) {
    const stranded = [...view.pooled.values()].filter((pooled) => waitsBehind(pooled, evicts))
    evict(view, evicts, displacement.evicted(hash))
    for (const pooled of stranded)
      evict(view, pooled, displacement.stranded(evicts.hash, evicts.nonce, hash))
  }
  const { maxFeePerGas, maxPriorityFeePerGas } = bidOf(entry)
  const slot: PoolSlot = {
    hash,
    state: 'pooled',
    maxFeePerGas,
    maxPriorityFeePerGas,
    prefund,
    paymaster: operation.paymaster ?? null,
    appId,
  }
  view.known.set(hash, 'pooled')
  view.slots.set(slotName(entryPoint, sender, nonce), slot)
  count(view, slot, entryPoint, 1n)
  addToSender(view, entryPoint, sender, 1)
  if (operation.authorization) view.delegating.set(hash, operation)
  view.pooled.set(hash, { ...slot, entryPoint, sender, nonce })
  view.puts.delete(hash)
  view.puts.set(hash, { entry: { ...entry, counted }, standing: { state: 'pooled' } })
}

/** Takes an operation out of the pool so that no operation has its nonce any more. */
function evict(view: PoolView, operation: PooledOperation, standing: LeavingState): void {
  const { hash, entryPoint, sender, nonce } = operation
  displace(view, hash, standing)
  view.slots.delete(slotName(entryPoint, sender, nonce))
  count(view, operation, entryPoint, -1n)
  addToSender(view, entryPoint, sender, -1)
}

function displace(view: PoolView, hash: Hex, standing: LeavingState) {
  const { known, pooled, delegating, puts, displaced } = view
  known.set(hash, standing.state)
  pooled.delete(hash)
  delegating.delete(hash)
  const put = puts.get(hash)
  if (put) puts.set(hash, { ...put, standing })
  else displaced.set(hash, standing)
}

/** Adds an operation to the totals of its scopes, or with sign -1 takes it off them. */
function count(
  { totals }: PoolView,
  { appId, paymaster, prefund }: Pick<PoolSlot, 'appId' | 'paymaster' | 'prefund'>,
  entryPoint: Address,
  sign: 1n | -1n,
): void {
  const add = (scope: string, change: bigint): void => {
    const total = totals.get(scope)
    // A total that no admission of this transaction needs was not read.
    if (total !== undefined) totals.set(scope, total + change)
  }
  add(scopeNames.pool, sign)
  add(scopeNames.app(appId), sign)
  if (paymaster) add(scopeNames.paymaster(entryPoint, paymaster), sign * prefund)
}

function addToSender(
  { ofSender }: PoolView,
  entryPoint: Address,
  sender: Address,
  change: 1 | -1,
): void {
  const name = senderName(entryPoint, sender)
  ofSender.set(name, (ofSender.get(name) ?? 0) + change)
}

/** The pooled operation with the smallest margin that is of another sender; of equals the lowest hash. */
function cheapestExcept(
  { pooled }: PoolView,
  sender: Address,
  baseFee: bigint,
): PooledOperation | undefined {
  let cheapest: PooledOperation | undefined
  for (const operation of pooled.values()) {
    if (operation.sender === sender) continue
    const difference = cheapest ? margin(operation, baseFee) - margin(cheapest, baseFee) : -1n
    if (difference < 0n || (cheapest && difference === 0n && operation.hash < cheapest.hash))
      cheapest = operation
  }
  return cheapest
}

/** wei per gas; unlike `tipAt` it orders operations below the base fee too. */
function margin(op: PooledOperation, baseFee: bigint): bigint {
  return smallest(op.maxFeePerGas - baseFee, op.maxPriorityFeePerGas)
}

/** Whether `op` cannot go before `first`. A nonce is `key << 64 | sequence`. */
function waitsBehind(op: PooledOperation, first: PooledOperation): boolean {
  return (
    op.entryPoint === first.entryPoint &&
    op.sender === first.sender &&
    op.nonce >> 64n === first.nonce >> 64n &&
    op.nonce > first.nonce
  )
}
