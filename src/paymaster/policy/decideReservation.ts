import type { Refusal } from '../../base/errors/catalogue.js'
import { MOST_SPONSORSHIPS, type ReservationState } from '../ledger/reservations.js'
import { type BudgetClaim, budgetExceeded } from './budget/budget.js'
import { checkUnsent, type Unsent } from './unsent.js'

/** A policy that passed its other rules, with the claims on its budgets. */
export type PolicyClaim = {
  readonly policyId: string
  readonly claims: readonly BudgetClaim[]
}

/** The claim of one sponsorship on the ledger. */
export type ReservationClaim = {
  /** wei at most */
  readonly maxCost: bigint
  /** All must have enough left. */
  readonly ofAccount: readonly PolicyClaim[]
  /** The first that has enough left sponsors; undefined = the app has no policies and needs none. */
  readonly ofApp: readonly PolicyClaim[] | undefined
}

/** A claim on a budget, with the ledger's figures. */
export type ClaimDecision = BudgetClaim & {
  /** The used part of the budget, with what the slot holds already. */
  readonly used: bigint
  /** The amount by which the window's sum grows, with all that the slot has held counted once. */
  readonly added: bigint
}

/** The ledger as it is under the lock. Amounts are wei. */
export type Books = {
  /** undefined = nothing on the chain bounds it */
  readonly deposit: bigint | undefined
  /** The sum that other slots may take from the deposit. */
  readonly locked: bigint
  /** The live reservation of the same sender, nonce, app and payer. */
  readonly slot:
    | {
        readonly state: ReservationState
        readonly maxCost: bigint
        readonly sponsorships: number
      }
    | undefined
  /** Other sponsorships that no operation uses; undefined = nothing bounds them. */
  readonly unsent: Unsent | undefined
  /** The bucket that the claim goes to, and the window's sum before and after it. */
  decide(claim: BudgetClaim): ClaimDecision
}

export type ReservationDecision =
  | {
      readonly kind: 'granted'
      /** The policy of the app that pays; undefined when the app has none. */
      readonly policyId: string | undefined
      readonly charges: readonly ClaimDecision[]
    }
  /** The payer's deposit does not cover the cost. */
  | { readonly kind: 'short' }
  | {
      readonly kind: 'refused'
      readonly refusal: Refusal
      readonly policyId: string | undefined
      readonly claims: readonly ClaimDecision[]
    }

/**
 * Decides whether a sponsorship fits the books. Its maximum cost counts; of several sponsorships
 * with one slot (sender and nonce) only one can be included, so only the most expensive counts.
 */
export function decideReservation(claim: ReservationClaim, books: Books): ReservationDecision {
  const { slot, locked, deposit, unsent } = books
  if (slot?.state === 'included')
    return { kind: 'refused', refusal: nonceUsed, policyId: undefined, claims: [] }
  if (slot !== undefined && slot.sponsorships >= MOST_SPONSORSHIPS)
    return { kind: 'refused', refusal: sponsoredOften, policyId: undefined, claims: [] }
  const slotCost = slot !== undefined && slot.maxCost > claim.maxCost ? slot.maxCost : claim.maxCost
  if (deposit !== undefined && locked + slotCost > deposit) return { kind: 'short' }

  const decision = decideClaims(claim, books)
  if (decision.kind !== 'granted' || unsent === undefined) return decision
  const refusal = checkUnsent(unsent, slotCost)
  return refusal ? { kind: 'refused', refusal, policyId: undefined, claims: [] } : decision
}

function decideClaims(claim: ReservationClaim, books: Books): ReservationDecision {
  const charges: ClaimDecision[] = []
  for (const candidate of claim.ofAccount) {
    const { exceeded, claims } = decideClaim(candidate, books)
    if (exceeded !== undefined) return refusedBy(candidate, exceeded)
    charges.push(...claims)
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
  const decided = claims.map((claim) => books.decide(claim))
  return { claims: decided, exceeded: decided.find((claim) => !fits(claim)) }
}

function fits({ used, added, limit }: ClaimDecision): boolean {
  return used + added <= limit
}

function refusedBy({ policyId }: PolicyClaim, exceeded: ClaimDecision): ReservationDecision {
  return {
    kind: 'refused',
    refusal: budgetExceeded({ ...exceeded, amount: exceeded.added }, exceeded.used),
    policyId,
    claims: [exceeded],
  }
}

/**
 * A further sponsorship of a nonce reserves nothing, so no deposit bounds their number; and anybody with the app's key can
 * ask for them. Under the payer's lock all of them are read, which holds up every app that shares the payer.
 */
const sponsoredOften: Refusal = {
  code: 'TOO_MUCH_UNSENT',
  message: `This sender and nonce were sponsored ${MOST_SPONSORSHIPS} times. Send one of these operations, or ask again when all have ended.`,
}

const nonceUsed: Refusal = {
  code: 'NONCE_USED',
  message:
    'An operation with this sender and nonce was included already. Read the nonce again and rebuild the operation.',
}
