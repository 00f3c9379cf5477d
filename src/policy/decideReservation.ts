import type { Refusal } from '../errors/refusal.js'
import type { ReservationState } from '../store/schema.js'
import { type BudgetClaim, budgetExceeded } from './budget/budget.js'

/** A policy that passed its other rules, with what its budgets would be charged. */
export type PolicyClaim = {
  readonly policyId: string
  readonly claims: readonly BudgetClaim[]
}

/** What is asked of the ledger. */
export type ReservationClaim = {
  /** wei at most */
  readonly maxCost: bigint
  /** All must have room. */
  readonly ofAccount: readonly PolicyClaim[]
  /** The first that has room sponsors; undefined = the app has no policies and needs none. */
  readonly ofApp: readonly PolicyClaim[] | undefined
}

/** A claim on a budget with what the ledger says of it. */
export type ClaimDecision = BudgetClaim & {
  /** What is used of the budget, what the slot holds included. */
  readonly used: bigint
  /** What the slot holds in `bucket` already: only more than that is new. */
  readonly held: bigint
}

/** The ledger as it is under the lock. All in wei where nothing else is said. */
export type Books = {
  /** undefined = nothing on the chain bounds it */
  readonly deposit: bigint | undefined
  /** What other slots may take from the deposit. */
  readonly locked: bigint
  /** The live reservation of the same sender, nonce, app and payer. */
  readonly slot: { readonly state: ReservationState; readonly maxCost: bigint } | undefined
  /** Where the claim goes, and what is used there. */
  judge(claim: BudgetClaim): ClaimDecision
}

export type ReservationDecision =
  | {
      readonly kind: 'granted'
      /** Of the app; undefined when it has none. */
      readonly policyId: string | undefined
      readonly charges: readonly ClaimDecision[]
    }
  /** The deposit does not cover it. */
  | { readonly kind: 'short' }
  | {
      readonly kind: 'refused'
      readonly refusal: Refusal
      readonly policyId: string | undefined
      readonly claims: readonly ClaimDecision[]
    }

/** Does a sponsorship fit the books? Its maximum cost counts, and of a slot only the dearest. */
export function decideReservation(claim: ReservationClaim, books: Books): ReservationDecision {
  const { slot, locked, deposit } = books
  if (slot?.state === 'included')
    return { kind: 'refused', refusal: nonceUsed, policyId: undefined, claims: [] }
  const dearest = slot !== undefined && slot.maxCost > claim.maxCost ? slot.maxCost : claim.maxCost
  if (deposit !== undefined && locked + dearest > deposit) return { kind: 'short' }

  const charges: ClaimDecision[] = []
  for (const candidate of claim.ofAccount) {
    const judged = decideClaim(candidate, books)
    if (judged.exceeded !== undefined) return refusedBy(candidate, judged.exceeded)
    charges.push(...judged.claims)
  }
  if (claim.ofApp === undefined) return { kind: 'granted', policyId: undefined, charges }
  let first: ReservationDecision | undefined
  for (const candidate of claim.ofApp) {
    const { exceeded, claims } = decideClaim(candidate, books)
    if (exceeded === undefined) {
      const { policyId } = candidate
      return { kind: 'granted', policyId, charges: [...charges, ...claims] }
    }
    first ??= refusedBy(candidate, exceeded)
  }
  if (first === undefined) throw new Error('a claim needs a candidate, or no policies at all')
  return first
}

function decideClaim({ claims }: PolicyClaim, books: Books) {
  const judged = claims.map((claim) => books.judge(claim))
  return { claims: judged, exceeded: judged.find((claim) => !fits(claim)) }
}

/** What of a claim is new: the slot's other sponsorships may hold a part or all of it. */
export function addition({ amount, held }: ClaimDecision): bigint {
  return amount > held ? amount - held : 0n
}

function fits(claim: ClaimDecision): boolean {
  return claim.used + addition(claim) <= claim.limit
}

function refusedBy({ policyId }: PolicyClaim, exceeded: ClaimDecision): ReservationDecision {
  return {
    kind: 'refused',
    refusal: budgetExceeded({ ...exceeded, amount: addition(exceeded) }, exceeded.used),
    policyId,
    claims: [exceeded],
  }
}

const nonceUsed: Refusal = {
  code: 'NONCE_USED',
  message:
    'An operation with this sender and nonce was included already. Read the nonce again and build the operation anew.',
}
