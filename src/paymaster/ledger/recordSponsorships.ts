import { sql } from 'kysely'
import type { Address } from 'viem'
import type { BudgetUnit } from '../../base/vocabulary.js'
import type { Transaction } from '../../db/database.js'
import { eventParts } from '../../db/events.js'
import { additions, type CounterChange, type CounterKey } from './budgetCounters.js'
import { type NewDecision, signedEvent } from './decisions.js'
import { keepLocked, type LockedAt } from './payers.js'
import { isLiveReservation, type Payer } from './reservations.js'
import { insertWebhookCalls, type NewWebhookCall } from './webhookCalls.js'

/** The amount that a sponsorship takes from a bucket of a budget, in the budget's unit. */
type Charge = {
  readonly policyId: string
  readonly budget: string
  readonly subject: string
  /** Unix seconds at which the bucket begins */
  readonly bucket: number
  readonly unit: BudgetUnit
  readonly amount: bigint
  readonly price: bigint | undefined
}

type GrantedSponsorship = {
  readonly decision: Omit<NewDecision, 'reservation_id'>
  readonly calls: readonly NewWebhookCall[]
  readonly charges: readonly Charge[]
}

/** A reservation as it is from now on. */
type ReservationChange = {
  readonly slot: { readonly appId: string; readonly sender: Address; readonly nonce: bigint }
  /** undefined = a new one */
  readonly id: bigint | undefined
  /** wei, the largest of its sponsorships */
  readonly maxCost: bigint
  /** Unix seconds, the latest of its sponsorships */
  readonly validUntil: bigint
}

/** The bucket to which all charges of a reservation to one budget go. */
export type ChargeMove = CounterKey & { readonly slot: ReservationChange['slot'] }

export type SponsorshipChanges = {
  /** The slots of the decisions, each once. */
  readonly slots: readonly ReservationChange[]
  /** Counters, each once. */
  readonly counters: readonly CounterChange[]
  /** The amounts are in `counters`. */
  readonly moves: readonly ChargeMove[]
  readonly locked: LockedAt
  readonly sponsorships: readonly GrantedSponsorship[]
}

/**
 * Stores sponsorships of one payer, which the transaction has locked. One statement stores their
 * reservations, decisions and charges, adds to the counters and to the payer's locked amount, and
 * writes the events for subscriptions; others move earlier charges and store the webhook calls.
 */
export async function recordSponsorships(
  trx: Transaction,
  payer: Payer,
  { slots, counters, moves, locked, sponsorships }: SponsorshipChanges,
): Promise<void> {
  const decisions = sponsorships.map(({ decision }) => decision)
  const event = eventParts(
    decisions.map((decision) => ({
      appId: decision.app_id,
      type: 'sponsorship.signed',
      data: signedEvent(decision),
    })),
  )
  await sql`with ${reservations(payer, slots)},
    decision as (
      insert into decisions (id, app_id, chain_id, entry_point, sender, nonce, user_op_hash,
        sponsored, code, message, max_cost, valid_after, valid_until, policy_id, details,
        native_price, reservation_id)
      select d.id, d.app_id, ${BigInt(payer.chainId)}::bigint, ${payer.entryPoint}, d.sender, d.nonce,
        d.user_op_hash, d.sponsored, d.code, d.message, d.max_cost, d.valid_after, d.valid_until,
        d.policy_id, d.details, d.native_price, r.id
      from unnest(
        ${decisions.map(({ id }) => id)}::uuid[],
        ${decisions.map(({ app_id }) => app_id)}::uuid[],
        ${decisions.map(({ sender }) => sender)}::text[],
        ${decisions.map(({ nonce }) => nonce)}::numeric[],
        ${decisions.map(({ user_op_hash }) => user_op_hash ?? null)}::text[],
        ${decisions.map(({ sponsored }) => sponsored)}::boolean[],
        ${decisions.map(({ code }) => code)}::text[],
        ${decisions.map(({ message }) => message)}::text[],
        ${decisions.map(({ max_cost }) => max_cost)}::numeric[],
        ${decisions.map(({ valid_after }) => valid_after)}::bigint[],
        ${decisions.map(({ valid_until }) => valid_until)}::bigint[],
        ${decisions.map(({ policy_id }) => policy_id ?? null)}::uuid[],
        ${decisions.map(({ details }) => details ?? '{}')}::jsonb[],
        ${decisions.map(({ native_price }) => native_price ?? null)}::numeric[]
      ) as d (id, app_id, sender, nonce, user_op_hash, sponsored, code, message, max_cost,
        valid_after, valid_until, policy_id, details, native_price)
      join reservation r using (app_id, sender, nonce)
      returning id, reservation_id
    ),
    charge as (${chargesOf(sponsorships)}),
    counter as (${additions(counters)}),
    payer as (${keepLocked(payer, locked)}),
    ${event.parts}
    ${event.deliver}`.execute(trx)
  await moveCharges(trx, payer, moves)
  await insertWebhookCalls(trx, sponsorships)
}

/** Members of a statement's `with`; `reservation` has all reservations that were made or changed. */
function reservations(
  { chainId, entryPoint, paymaster }: Payer,
  slots: readonly ReservationChange[],
) {
  return sql`slot as (
      select * from unnest(
        ${slots.map(({ id }) => id ?? null)}::bigint[],
        ${slots.map(({ slot }) => slot.appId)}::uuid[],
        ${slots.map(({ slot }) => slot.sender)}::text[],
        ${slots.map(({ slot }) => slot.nonce)}::numeric[],
        ${slots.map(({ maxCost }) => maxCost)}::numeric[],
        ${slots.map(({ validUntil }) => validUntil)}::bigint[]
      ) as s (id, app_id, sender, nonce, max_cost, valid_until)
    ),
    created as (
      insert into reservations (app_id, chain_id, entry_point, sender, nonce, paymaster, max_cost,
        valid_until, state)
      select app_id, ${BigInt(chainId)}::bigint, ${entryPoint}, sender, nonce, ${paymaster}, max_cost,
        valid_until, 'open'
      from slot where id is null
      returning id, app_id, sender, nonce
    ),
    changed as (
      update reservations r set state = 'open', block_number = null, updated_at = now(),
        max_cost = slot.max_cost, valid_until = slot.valid_until
      from slot where r.id = slot.id
      returning r.id, r.app_id, r.sender, r.nonce
    ),
    reservation as (select * from created union all select * from changed)`
}

function chargesOf(sponsorships: readonly GrantedSponsorship[]) {
  const charges = sponsorships.flatMap(({ decision, charges }) =>
    charges.map((charge) => ({ ...charge, decisionId: decision.id })),
  )
  return sql`insert into charges (decision_id, reservation_id, policy_id, budget, subject, bucket,
        unit, amount, price)
      select decision.id, decision.reservation_id, c.policy_id, c.budget, c.subject, c.bucket,
        c.unit, c.amount, c.price
      from unnest(
        ${charges.map(({ decisionId }) => decisionId)}::uuid[],
        ${charges.map(({ policyId }) => policyId)}::uuid[],
        ${charges.map(({ budget }) => budget)}::text[],
        ${charges.map(({ subject }) => subject)}::text[],
        ${charges.map(({ bucket }) => BigInt(bucket))}::bigint[],
        ${charges.map(({ unit }) => unit)}::text[],
        ${charges.map(({ amount }) => amount)}::numeric[],
        ${charges.map(({ price }) => price ?? null)}::numeric[]
      ) as c (decision_id, policy_id, budget, subject, bucket, unit, amount, price)
      join decision on decision.id = c.decision_id`
}

async function moveCharges(
  trx: Transaction,
  { chainId, entryPoint, paymaster }: Payer,
  moves: readonly ChargeMove[],
): Promise<void> {
  if (moves.length === 0) return
  await sql`update charges c set bucket = m.bucket
    from unnest(
      ${moves.map(({ slot }) => slot.appId)}::uuid[],
      ${moves.map(({ slot }) => slot.sender)}::text[],
      ${moves.map(({ slot }) => slot.nonce)}::numeric[],
      ${moves.map(({ policyId }) => policyId)}::uuid[],
      ${moves.map(({ budget }) => budget)}::text[],
      ${moves.map(({ subject }) => subject)}::text[],
      ${moves.map(({ bucket }) => bucket)}::bigint[]
    ) as m (app_id, sender, nonce, policy_id, budget, subject, bucket)
    join reservations r on r.chain_id = ${BigInt(chainId)} and r.entry_point = ${entryPoint}
      and r.paymaster = ${paymaster} and r.app_id = m.app_id and r.sender = m.sender
      and r.nonce = m.nonce and ${isLiveReservation}
    where c.reservation_id = r.id
      and (c.policy_id, c.budget, c.subject) = (m.policy_id, m.budget, m.subject)`.execute(trx)
}
