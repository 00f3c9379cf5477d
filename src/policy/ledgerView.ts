import {
  type CounterChange,
  type CounterKey,
  type CounterQuery,
  counterName,
} from '../store/ledger/budgetCounters.js'
import type { LedgerBooks, LedgerQuery } from '../store/ledger/ledgerBooks.js'
import type { Moment } from '../store/ledger/payers.js'
import type { ChargeMove, SponsorshipChanges } from '../store/ledger/recordSponsorships.js'
import type {
  DepositAtHead,
  HeldBudget,
  LiveReservation,
  ReservationSlot,
} from '../store/ledger/reservations.js'
import type { BudgetClaim } from './budget/budget.js'
import type { Books, ClaimDecision, ReservationClaim } from './decideReservation.js'

/** The request of a sponsorship to the ledger. */
export type ReservationRequest = {
  readonly slot: ReservationSlot
  readonly claim: ReservationClaim
  readonly head: DepositAtHead
  readonly validUntil: bigint
}

/** The ledger in memory, for sponsorships of one payer that are decided one after the other. */
export type LedgerView = {
  /** The books for a request, after the requests before it. */
  booksFor(request: Omit<ReservationRequest, 'validUntil'>): Books
  /** Enters a granted request. */
  take(request: ReservationRequest, charges: readonly ClaimDecision[]): void
  /** The changes to store for all entered requests; `locked` at the latest moment that is known. */
  changes(): Omit<SponsorshipChanges, 'sponsorships'>
  /** Whether the stored sum of locked wei is out of date, because reservations have ended since. */
  readonly hasPassed: boolean
}

type ViewedReservation = Omit<LiveReservation, 'id'>

type SlotState = {
  readonly slot: ReservationSlot
  readonly id: bigint | undefined
  live: ViewedReservation | undefined
  isTaken: boolean
  readonly held: Map<string, Omit<HeldBudget, 'reservationId'>>
}

/** The query for these requests, everything once. */
export function queryOf(requests: readonly Omit<ReservationRequest, 'validUntil'>[]): LedgerQuery {
  const slots = new Map(requests.map(({ slot }) => [slotName(slot), slot]))
  const moments = new Map(requests.map(({ head }) => [momentName(head), head]))
  const claims = requests.flatMap(({ claim }) => claimsOf(claim))
  const counters = new Map(claims.map((claim) => [queryName(claim), toQuery(claim)]))
  return {
    slots: [...slots.values()],
    moments: [...moments.values()],
    counters: [...counters.values()],
  }
}

/** All budget claims that a reservation may be charged to. */
export function claimsOf({ ofAccount, ofApp = [] }: ReservationClaim): readonly BudgetClaim[] {
  return [...ofAccount, ...ofApp].flatMap(({ claims }) => claims)
}

/**
 * Makes a view of `read`, the answer to `query`; `held` are the counters that live reservations
 * hold.
 */
export function createLedgerView(
  query: LedgerQuery,
  read: LedgerBooks,
  held: readonly HeldBudget[],
): LedgerView {
  const slots = new Map<string, SlotState>()
  for (const [place, slot] of query.slots.entries()) {
    const live = read.slots[place]
    const counters = held.filter(({ reservationId }) => reservationId === live?.id)
    slots.set(slotName(slot), {
      slot,
      id: live?.id,
      live,
      isTaken: false,
      held: new Map(counters.map((counter) => [counterName(counter), counter])),
    })
  }
  const moments = [read.kept, ...read.locked]
  const locked = new Map(moments.map((moment) => [momentName(moment), moment]))
  const budgets = new Map<string, { readonly oldest: bigint; used: bigint }[]>()
  for (const [place, counter] of query.counters.entries()) {
    const entry = { oldest: counter.oldest, used: read.used[place] ?? 0n }
    budgets.set(budgetName(counter), [...(budgets.get(budgetName(counter)) ?? []), entry])
  }
  const added = new Map<string, CounterChange>()
  const moves = new Map<string, ChargeMove>()

  const decide = (claim: BudgetClaim, { held }: SlotState): ClaimDecision => {
    const oldest = BigInt(claim.oldest)
    const entry = budgets.get(budgetName(claim))?.find((each) => each.oldest === oldest)
    if (entry === undefined) throw new Error(`budget ${claim.budget} was not read`)
    const ofSlot = heldOf(claim, held)
    const before = ofSlot.filter(({ bucket }) => bucket >= oldest).reduce(plusAmount, 0n)
    const after = ofSlot.reduce((largest, each) => greater(largest, each.amount), claim.amount)
    const newest = ofSlot.reduce((late, each) => greater(late, each.bucket), BigInt(claim.bucket))
    return {
      ...claim,
      bucket: Number(newest),
      used: entry.used,
      added: greater(after - before, 0n),
    }
  }

  const add = (key: CounterKey, more: bigint): void => {
    const before = added.get(counterName(key))?.used ?? 0n
    added.set(counterName(key), { ...key, used: before + more, settled: 0n })
    for (const entry of budgets.get(budgetName(key)) ?? [])
      if (key.bucket >= entry.oldest) entry.used += more
  }

  /**
   * A slot counts once, in the bucket of its latest sponsorship: were it left in an older one, its
   * amount would leave the window while the later sponsorship can still be used.
   */
  const charge = (charged: ClaimDecision, { slot, held }: SlotState): void => {
    const { policyId, budget, subject } = charged
    const key = { policyId, budget, subject, bucket: BigInt(charged.bucket) }
    let { amount } = charged
    for (const each of heldOf(charged, held)) {
      add({ policyId, budget, subject, bucket: each.bucket }, -each.amount)
      held.delete(counterName(each))
      amount = greater(amount, each.amount)
      if (each.bucket !== key.bucket)
        moves.set(`${slotName(slot)} ${budgetName(key)}`, { slot, ...key })
    }
    add(key, amount)
    held.set(counterName(key), { ...key, amount })
  }

  return {
    hasPassed: read.locked.some((each) => each.locked !== read.kept.locked),
    booksFor: ({ slot, head }) => {
      const state = required(slots.get(slotName(slot)))
      const { locked: total } = required(locked.get(momentName(head)))
      return {
        deposit: head.deposit,
        locked: total - lockedBy(state.live, head),
        slot: state.live,
        decide: (claim) => decide(claim, state),
      }
    },
    take: ({ slot, claim, validUntil }, charges) => {
      const state = required(slots.get(slotName(slot)))
      const before = state.live
      const after: ViewedReservation = {
        state: 'open',
        blockNumber: null,
        maxCost: greater(claim.maxCost, before?.maxCost ?? 0n),
        validUntil: greater(validUntil, before?.validUntil ?? 0n),
      }
      state.live = after
      state.isTaken = true
      for (const [name, at] of locked) {
        const more = lockedBy(after, at) - lockedBy(before, at)
        locked.set(name, { ...at, locked: at.locked + more })
      }
      for (const each of charges) charge(each, state)
    },
    changes: () => ({
      slots: [...slots.values()].flatMap(({ slot, id, live, isTaken }) =>
        isTaken && live ? { slot, id, maxCost: live.maxCost, validUntil: live.validUntil } : [],
      ),
      counters: [...added.values()],
      moves: [...moves.values()],
      locked: [...locked.values()].reduce((latest, each) =>
        isLater(each, latest) ? each : latest,
      ),
    }),
  }
}

/** The wei that a live reservation takes from its payer's deposit as it was at a moment. */
function lockedBy(reservation: ViewedReservation | undefined, at: Moment): bigint {
  if (reservation === undefined || reservation.validUntil < BigInt(at.timestamp)) return 0n
  const { state, blockNumber, maxCost } = reservation
  return state === 'included' && (blockNumber ?? 0n) <= at.blockNumber ? 0n : maxCost
}

function isLater(one: Moment, other: Moment): boolean {
  return one.timestamp === other.timestamp
    ? one.blockNumber > other.blockNumber
    : one.timestamp > other.timestamp
}

function greater(one: bigint, other: bigint): bigint {
  return one > other ? one : other
}

function slotName({ appId, sender, nonce }: ReservationSlot): string {
  return `${appId} ${sender} ${nonce}`
}

function momentName({ blockNumber, timestamp }: Moment): string {
  return `${blockNumber} ${timestamp}`
}

function budgetName({ policyId, budget, subject }: Omit<CounterQuery, 'oldest'>): string {
  return `${policyId} ${budget} ${subject}`
}

function heldOf(claim: Omit<CounterQuery, 'oldest'>, held: SlotState['held']) {
  return [...held.values()].filter((each) => budgetName(each) === budgetName(claim))
}

function plusAmount(sum: bigint, { amount }: { readonly amount: bigint }): bigint {
  return sum + amount
}

function queryName(claim: BudgetClaim): string {
  return `${budgetName(claim)} ${claim.oldest}`
}

function toQuery({ policyId, budget, subject, oldest }: BudgetClaim): CounterQuery {
  return {
    policyId,
    budget,
    subject,
    oldest: BigInt(oldest),
  }
}

function required<Value>(value: Value | undefined): Value {
  if (value === undefined) throw new Error('a sponsorship asks for what was not read')
  return value
}
