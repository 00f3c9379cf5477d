import type { Address } from 'viem'
import { greatest, smallest } from '../../base/bigints.js'
import type { CounterQuery } from '../ledger/budgetCounters.js'
import type { LedgerBooks, LedgerQuery } from '../ledger/ledgerBooks.js'
import type { Moment } from '../ledger/payers.js'
import type { SponsorshipChanges } from '../ledger/recordSponsorships.js'
import type {
  DepositAtHead,
  HeldBudget,
  LiveReservation,
  ReservationSlot,
} from '../ledger/reservations.js'
import type { UnsentQuery } from '../ledger/unsent.js'
import type { BudgetClaim } from './budget/budget.js'
import { budgetName, createBudgetView, type HeldBudgets } from './budgetView.js'
import type { Books, ClaimDecision, ReservationClaim } from './decideReservation.js'
import { createUnsentView, newSendersMost } from './unsent.js'

/** The request of a sponsorship to the ledger. */
export type ReservationRequest = {
  readonly slot: ReservationSlot
  readonly claim: ReservationClaim
  readonly head: DepositAtHead
  readonly validUntil: bigint
  /**
   * wei that the app can spend, of which a sender may hold a part without sending; absent = nothing bounds
   * what is not sent.
   */
  readonly available?: bigint
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
  readonly held: HeldBudgets
}

/** The query for these requests, everything once. */
export function queryOf(requests: readonly Omit<ReservationRequest, 'validUntil'>[]): LedgerQuery {
  const slots = new Map(requests.map(({ slot }) => [slotName(slot), slot]))
  const moments = new Map(requests.map(({ head }) => [momentName(head), head]))
  const claims = requests.flatMap(({ claim }) => claimsOf(claim))
  const counters = new Map(
    claims.map((claim) => [`${budgetName(claim)} ${claim.oldest}`, toQuery(claim)]),
  )
  return {
    slots: [...slots.values()],
    moments: [...moments.values()],
    counters: [...counters.values()],
    unsent: unsentQuery(requests),
  }
}

function unsentQuery(requests: readonly Omit<ReservationRequest, 'validUntil'>[]): UnsentQuery {
  const senders = new Map<string, { readonly appId: string; readonly sender: Address }>()
  const apps = new Map<string, bigint>()
  for (const { slot, claim, available } of requests) {
    if (available === undefined) continue
    const { appId, sender } = slot
    senders.set(`${appId} ${sender}`, { appId, sender })
    const harmless = newSendersMost(available)
    // As if all that is locked were unsent, and each of these requests were granted.
    const before = apps.get(slot.appId) ?? harmless
    apps.set(slot.appId, smallest(before, harmless) - claim.maxCost)
  }
  return {
    senders: [...senders.values()],
    apps: [...apps].map(([appId, harmless]) => ({ appId, harmless })),
    timestamp: Math.min(...requests.map(({ head }) => head.timestamp)),
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
    const ofSlot: HeldBudgets = new Map()
    for (const each of held)
      if (each.reservationId === live?.id)
        ofSlot.set(budgetName(each), [...(ofSlot.get(budgetName(each)) ?? []), each])
    slots.set(slotName(slot), {
      slot,
      id: live?.id,
      live,
      isTaken: false,
      held: ofSlot,
    })
  }
  const moments = [read.kept, ...read.locked]
  const locked = new Map(moments.map((moment) => [momentName(moment), moment]))
  const budgets = createBudgetView(query.counters, read.used)
  const unsent = createUnsentView(read.unsent)

  return {
    hasPassed: read.locked.some((each) => each.locked !== read.kept.locked),
    booksFor: (request) => {
      const { slot, head } = request
      const state = required(slots.get(slotName(slot)))
      const { locked: total } = required(locked.get(momentName(head)))
      return {
        deposit: head.deposit,
        locked: total - lockedBy(state.live, head),
        slot: state.live,
        unsent: unsent.besides(request),
        decide: (claim) => budgets.decide(claim, state.held),
      }
    },
    take: (request, charges) => {
      const { slot, claim, validUntil } = request
      const state = required(slots.get(slotName(slot)))
      const before = state.live
      const after: ViewedReservation = {
        state: 'open',
        blockNumber: null,
        maxCost: greatest(claim.maxCost, before?.maxCost ?? 0n),
        validUntil: greatest(validUntil, before?.validUntil ?? 0n),
        sponsorships: (before?.sponsorships ?? 0) + 1,
      }
      state.live = after
      state.isTaken = true
      unsent.take(request, after.maxCost)
      for (const [name, at] of locked) {
        const more = lockedBy(after, at) - lockedBy(before, at)
        locked.set(name, { ...at, locked: at.locked + more })
      }
      for (const each of charges) budgets.charge(each, state)
    },
    changes: () => ({
      slots: [...slots.values()].flatMap(({ slot, id, live, isTaken }) =>
        isTaken && live ? { slot, id, maxCost: live.maxCost, validUntil: live.validUntil } : [],
      ),
      ...budgets.changes(),
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

function slotName({ appId, sender, nonce }: ReservationSlot): string {
  return `${appId} ${sender} ${nonce}`
}

function momentName({ blockNumber, timestamp }: Moment): string {
  return `${blockNumber} ${timestamp}`
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
