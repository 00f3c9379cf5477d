import { faultPoint } from '../faults.js'
import type { Database } from '../store/database.js'
import type { NewDecision } from '../store/decisions.js'
import { type LedgerBooks, readLedger } from '../store/ledgerBooks.js'
import { recordSponsorship } from '../store/recordSponsorship.js'
import {
  chargesHeld,
  type DepositAtHead,
  lockReservation,
  lockReserving,
  type Slot,
} from '../store/reservations.js'
import type { NewWebhookCall } from '../store/webhookCalls.js'
import type { BudgetClaim } from './budget.js'
import {
  addition,
  type Books,
  type Claim,
  decideReservation,
  type JudgedClaim,
  type ReservationDecision,
} from './decideReservation.js'

/** A sponsorship, ready but for its money. */
export type ReservationRequest = {
  readonly slot: Slot
  readonly claim: Claim
  readonly head: DepositAtHead
  readonly validUntil: bigint
}

/** wei that other slots lock, beside the decision. */
export type Reserved = ReservationDecision & { readonly locked: bigint }

/**
 * Checks deposit and budgets and, when all have room, reserves the maximum cost and stores the
 * decision with its calls, in one transaction. Decisions that share a payer or a policy wait for each
 * other, in all processes. Of a refusal nothing is stored. `besides` stores with it what else must
 * hold when it does.
 */
export const reserve = (
  db: Database,
  request: ReservationRequest,
  decide: (reserved: Reserved) => NewDecision,
  calls: readonly NewWebhookCall[],
  besides?: (trx: Database) => Promise<void>,
): Promise<Reserved> =>
  db.transaction().execute(async (trx) => {
    const { slot, claim, head, validUntil } = request
    const claims = claimsOf(claim)
    const payer = `${slot.chainId} ${slot.entryPoint} ${slot.paymaster}`
    await lockReserving(trx, [payer, ...claims.map(({ policyId }) => policyId)])
    const found = await readLedger(trx, slot, head, queriesOf(claims))
    if (found.slot !== undefined) await lockReservation(trx, found.slot.id)
    // What was read before the lock may have been settled meanwhile.
    const ledger =
      found.slot === undefined ? found : await readLedger(trx, slot, head, queriesOf(claims))
    const books = await toBooks(trx, ledger, head, claims)
    const reserved = { ...decideReservation(claim, books), locked: books.locked }
    if (reserved.kind === 'granted') {
      const { maxCost } = claim
      await recordSponsorship(trx, {
        ...{ slot, known: ledger.slot, maxCost, validUntil, calls },
        decision: decide(reserved),
        charges: reserved.charges.map((charge) => ({
          ...charge,
          bucket: BigInt(charge.bucket),
          added: addition(charge),
        })),
      })
      await besides?.(trx)
    }
    faultPoint('sponsorship:reserved')
    return reserved
  })

/** What `reserve` would say now. Reserves, locks and stores nothing. */
export const previewReservation = async (
  db: Database,
  { slot, claim, head }: Omit<ReservationRequest, 'validUntil'>,
): Promise<Reserved> => {
  const claims = claimsOf(claim)
  const ledger = await readLedger(db, slot, head, queriesOf(claims))
  const books = await toBooks(db, ledger, head, claims)
  return { ...decideReservation(claim, books), locked: books.locked }
}

const claimsOf = ({ ofAccount, ofApp = [] }: Claim): readonly BudgetClaim[] =>
  [...ofAccount, ...ofApp].flatMap(({ claims }) => claims)

const queriesOf = (claims: readonly BudgetClaim[]) =>
  claims.map((claim) => ({ ...claim, oldest: BigInt(claim.oldest) }))

const toBooks = async (
  db: Database,
  { slot, locked, used }: LedgerBooks,
  head: DepositAtHead,
  claims: readonly BudgetClaim[],
): Promise<Books> => {
  const held = slot && claims.length > 0 ? await chargesHeld(db, slot.id) : []
  const judged = new Map<BudgetClaim, JudgedClaim>()
  for (const [index, claim] of claims.entries()) {
    // A slot stays in the bucket that it was counted in, as long as the window reaches there.
    const own = held
      .filter(
        ({ policyId, budget, subject, bucket }) =>
          policyId === claim.policyId &&
          budget === claim.budget &&
          subject === claim.subject &&
          bucket >= claim.oldest,
      )
      .reduce<(typeof held)[number] | undefined>(
        (newest, each) => (newest === undefined || each.bucket > newest.bucket ? each : newest),
        undefined,
      )
    judged.set(claim, {
      ...claim,
      bucket: own === undefined ? claim.bucket : Number(own.bucket),
      used: used[index] ?? 0n,
      held: own?.amount ?? 0n,
    })
  }
  const judge = (claim: BudgetClaim): JudgedClaim => {
    const found = judged.get(claim)
    if (found === undefined) throw new Error(`budget ${claim.budget} was not read`)
    return found
  }
  return { deposit: head.deposit, locked, slot, judge }
}
