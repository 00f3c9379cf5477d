import { greatest, sum } from '../../base/bigints.js'
import {
  type CounterChange,
  type CounterKey,
  type CounterQuery,
  counterName,
} from '../ledger/budgetCounters.js'
import type { ChargeMove } from '../ledger/recordSponsorships.js'
import type { HeldBudget, ReservationSlot } from '../ledger/reservations.js'
import type { BudgetClaim } from './budget/budget.js'
import type { ClaimDecision } from './decideReservation.js'

/** The amounts that a slot holds of counters, by the names of their budgets. */
export type HeldBudgets = Map<string, readonly Omit<HeldBudget, 'reservationId'>[]>

type BudgetHolder = { readonly slot: ReservationSlot; readonly held: HeldBudgets }

/** Budgets in memory, for claims that are decided one after the other. */
/** @param used the sum of each counter query's window, in the order of `queries` */
export function createBudgetView(queries: readonly CounterQuery[], used: readonly bigint[]) {
  const windows = new Map<string, { readonly oldest: bigint; used: bigint }[]>()
  for (const [place, query] of queries.entries()) {
    const entry = { oldest: query.oldest, used: used[place] ?? 0n }
    windows.set(budgetName(query), [...(windows.get(budgetName(query)) ?? []), entry])
  }
  const added = new Map<string, CounterChange>()
  const moves = new Map<string, ChargeMove>()

  const add = (key: CounterKey, more: bigint): void => {
    const before = added.get(counterName(key))?.used ?? 0n
    added.set(counterName(key), { ...key, used: before + more, settled: 0n })
    for (const entry of windows.get(budgetName(key)) ?? [])
      if (key.bucket >= entry.oldest) entry.used += more
  }

  return {
    decide: (claim: BudgetClaim, held: HeldBudgets): ClaimDecision => {
      const oldest = BigInt(claim.oldest)
      const entry = windows.get(budgetName(claim))?.find((each) => each.oldest === oldest)
      if (entry === undefined) throw new Error(`budget ${claim.budget} was not read`)
      const ofSlot = heldOf(claim, held)
      const inWindow = ofSlot.filter(({ bucket }) => bucket >= oldest)
      const before = sum(inWindow.map(({ amount }) => amount))
      const after = greatest(claim.amount, ...ofSlot.map(({ amount }) => amount))
      const bucket = greatest(BigInt(claim.bucket), ...ofSlot.map((each) => each.bucket))
      return {
        ...claim,
        bucket: Number(bucket),
        used: entry.used,
        added: greatest(after - before, 0n),
      }
    },
    /**
     * Enters a claim that was granted. A slot counts once, in the bucket of its latest sponsorship: were it
     * left in an older one, its amount would leave the window while the later sponsorship can still be used.
     */
    charge: (claim: ClaimDecision, { slot, held }: BudgetHolder): void => {
      const { policyId, budget, subject } = claim
      const key = { policyId, budget, subject, bucket: BigInt(claim.bucket) }
      const ofSlot = heldOf(claim, held)
      for (const each of ofSlot)
        add({ policyId, budget, subject, bucket: each.bucket }, -each.amount)
      const { appId, sender, nonce } = slot
      if (ofSlot.some(({ bucket }) => bucket !== key.bucket))
        moves.set(`${appId} ${sender} ${nonce} ${budgetName(key)}`, { slot, ...key })
      const amount = greatest(claim.amount, ...ofSlot.map((each) => each.amount))
      add(key, amount)
      held.set(budgetName(key), [{ ...key, amount }])
    },
    changes: () => ({ counters: [...added.values()], moves: [...moves.values()] }),
  }
}

export function budgetName({ policyId, budget, subject }: Omit<CounterQuery, 'oldest'>): string {
  return `${policyId} ${budget} ${subject}`
}

function heldOf(claim: Omit<CounterQuery, 'oldest'>, held: HeldBudgets) {
  return held.get(budgetName(claim)) ?? []
}
