import type { Address, Hex } from 'viem'
import {
  type DisplacedState,
  type PooledOperation,
  type PoolSlot,
  scopeNames,
} from '../store/pool/admissions.js'
import { type NewOperation, offerOf } from '../store/pool/operations.js'
import type { OperationState } from '../store/schema.js'
import type { AdmittedEntities } from './createEntityView.js'
import { type AdmissionDecision, displacement, type Occupancy } from './decideAdmission.js'

export type Admission = {
  readonly entry: Omit<NewOperation, 'counted'>
  /** wei in the paymaster's deposit; undefined without a paymaster. */
  readonly deposit: bigint | undefined
  /** wei per gas of the head at which the operation was found valid */
  readonly baseFee: bigint
  /** Undefined where no reputation is kept (rules are off). */
  readonly entities: AdmittedEntities | undefined
}

/** What a transaction of admissions read of the pool. Counts may be too big, never too small. */
export type PoolFacts = {
  readonly known: ReadonlyMap<Hex, OperationState>
  /** By `slotName`. */
  readonly slots: ReadonlyMap<string, PoolSlot>
  /** By `senderName`. */
  readonly ofSender: ReadonlyMap<string, number>
  /** By scope: live operations of pool and apps, wei of paymasters. */
  readonly totals: ReadonlyMap<string, bigint>
  /**
   * Enough of the cheapest pooled operations for all admissions, and what waits behind them; empty in
   * a pool with room.
   */
  readonly cheapest: readonly PooledOperation[]
}

export function senderName(entryPoint: Address, sender: Address): string {
  return `${entryPoint} ${sender}`
}

export function slotName(entryPoint: Address, sender: Address, nonce: bigint): string {
  return `${senderName(entryPoint, sender)} ${nonce}`
}

/** wei per gas; unlike `effectiveTip` it orders operations below the base fee too. */
function margin(op: PooledOperation, baseFee: bigint): bigint {
  const left = op.maxFeePerGas - baseFee
  if (left < op.maxPriorityFeePerGas) return left
  return op.maxPriorityFeePerGas
}

/** Can `op` not go before `first` did? A nonce is `key << 64 | sequence`. */
function waitsBehind(op: PooledOperation, first: PooledOperation): boolean {
  return (
    op.entryPoint === first.entryPoint &&
    op.sender === first.sender &&
    op.nonce >> 64n === first.nonce >> 64n &&
    op.nonce > first.nonce
  )
}

/**
 * The pool as it becomes while admissions are decided one after the other, in memory, and what of it
 * must be written at the end.
 */
export function createPoolView(facts: PoolFacts) {
  const known = new Map(facts.known)
  const slots = new Map(facts.slots)
  const ofSender = new Map(facts.ofSender)
  const totals = new Map(facts.totals)
  const pooled = new Map(facts.cheapest.map((each) => [each.hash, each]))
  const puts = new Map<Hex, { entry: NewOperation; standing: DisplacedState }>()
  const displaced = new Map<Hex, DisplacedState>()

  /** Counts that nobody asked for are not kept. */
  const add = (scope: string, change: bigint): void => {
    const total = totals.get(scope)
    if (total !== undefined) totals.set(scope, total + change)
  }

  const count = (
    { appId, paymaster, prefund }: Pick<PoolSlot, 'appId' | 'paymaster' | 'prefund'>,
    entryPoint: Address,
    sign: bigint,
  ): void => {
    add(scopeNames.pool, sign)
    add(scopeNames.app(appId), sign)
    if (paymaster) add(scopeNames.paymaster(entryPoint, paymaster), sign * prefund)
  }

  const addSender = (entryPoint: Address, sender: Address, change: number): void => {
    const name = senderName(entryPoint, sender)
    ofSender.set(name, (ofSender.get(name) ?? 0) + change)
  }

  const leave = (hash: Hex, standing: DisplacedState & { state: OperationState }): void => {
    known.set(hash, standing.state)
    pooled.delete(hash)
    const put = puts.get(hash)
    if (put) puts.set(hash, { ...put, standing })
    else displaced.set(hash, standing)
  }

  const giveWay = (
    op: PooledOperation,
    standing: DisplacedState & { state: OperationState },
  ): void => {
    leave(op.hash, standing)
    slots.delete(slotName(op.entryPoint, op.sender, op.nonce))
    count(op, op.entryPoint, -1n)
    addSender(op.entryPoint, op.sender, -1)
  }

  const cheapestBut = (sender: Address, baseFee: bigint): PooledOperation | undefined => {
    let best: PooledOperation | undefined
    for (const each of pooled.values()) {
      if (each.sender === sender) continue
      const difference = best ? margin(each, baseFee) - margin(best, baseFee) : -1n
      if (difference < 0n || (best && difference === 0n && each.hash < best.hash)) best = each
    }
    return best
  }

  return {
    /** What the pool now says about a candidate. */
    occupancy({ entry, baseFee }: Admission): Occupancy {
      const { hash, entryPoint, appId, operation } = entry
      const { sender, nonce, paymaster } = operation
      const total = (scope: string) => totals.get(scope) ?? 0n
      return {
        known: known.get(hash),
        slot: slots.get(slotName(entryPoint, sender, nonce)),
        ofSender: ofSender.get(senderName(entryPoint, sender)) ?? 0,
        ofApp: Number(total(scopeNames.app(appId))),
        total: Number(total(scopeNames.pool)),
        paymasterPending: paymaster ? total(scopeNames.paymaster(entryPoint, paymaster)) : 0n,
        cheapest: cheapestBut(sender, baseFee),
      }
    },

    /** The pool after a decision. `counted`: whose reputation counts the operation. */
    apply({ entry }: Admission, decision: AdmissionDecision, counted: readonly Address[]): void {
      if (decision.kind !== 'insert') return
      const { replaces, evicts } = decision
      const { hash, entryPoint, appId, operation, prefund } = entry
      const { sender, nonce } = operation
      const { maxFeePerGas, maxPriorityFeePerGas } = offerOf(entry)
      if (replaces) {
        leave(replaces.hash, displacement.replaced(hash))
        count(replaces, entryPoint, -1n)
        addSender(entryPoint, sender, -1)
      }
      if (evicts) {
        const { hash: first, nonce: missing } = evicts
        const stranded = [...pooled.values()].filter((each) => waitsBehind(each, evicts))
        giveWay(evicts, displacement.evicted(hash))
        for (const each of stranded) giveWay(each, displacement.stranded(first, missing, hash))
      }
      const paymaster = operation.paymaster ?? null
      const fees = { maxFeePerGas, maxPriorityFeePerGas }
      const slot: PoolSlot = { hash, state: 'pooled', ...fees, prefund, paymaster, appId }
      known.set(hash, 'pooled')
      slots.set(slotName(entryPoint, sender, nonce), slot)
      count(slot, entryPoint, 1n)
      addSender(entryPoint, sender, 1)
      pooled.set(hash, { ...slot, entryPoint, sender, nonce })
      puts.delete(hash)
      puts.set(hash, { entry: { ...entry, counted }, standing: { state: 'pooled' } })
    },

    puts: () => [...puts.values()],
    displaced,
    totals,
  }
}

export type PoolView = ReturnType<typeof createPoolView>
