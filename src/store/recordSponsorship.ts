import { sql } from 'kysely'
import type { CounterKey } from './budgetCounters.js'
import { additions } from './budgetCounters.js'
import type { Database } from './database.js'
import { type NewDecision, signedEvent } from './decisions.js'
import { eventParts } from './events.js'
import type { LiveReservation, Slot } from './reservations.js'
import type { BudgetUnit } from './schema.js'
import { insertWebhookCalls, type NewWebhookCall } from './webhookCalls.js'

/** What a sponsorship takes from a bucket of a budget, in its unit. */
export type Charge = CounterKey & {
  readonly unit: BudgetUnit
  readonly amount: bigint
  readonly price: bigint | undefined
  /** What of the amount its counter does not hold yet. */
  readonly added: bigint
}

export type GrantedSponsorship = {
  readonly slot: Slot
  /** The slot's live reservation, locked by the transaction. */
  readonly known: LiveReservation | undefined
  /** wei */
  readonly maxCost: bigint
  /** Unix seconds */
  readonly validUntil: bigint
  readonly decision: Omit<NewDecision, 'reservation_id'>
  readonly calls: readonly NewWebhookCall[]
  readonly charges: readonly Charge[]
}

/**
 * Stores a sponsorship, all but its calls in one statement: the reservation, or that the slot's live
 * one covers this sponsorship too (the dearest and the longest count), the decision, its charges, what
 * they add to the counters, and the event for those who subscribed.
 */
export const recordSponsorship = async (
  trx: Database,
  { slot, known, maxCost, validUntil, decision, calls, charges }: GrantedSponsorship,
): Promise<void> => {
  const reservation =
    known === undefined
      ? sql`insert into reservations (app_id, chain_id, entry_point, sender, nonce, paymaster,
          max_cost, valid_until, state)
        values (${slot.appId}, ${BigInt(slot.chainId)}, ${slot.entryPoint}, ${slot.sender},
          ${slot.nonce}, ${slot.paymaster}, ${maxCost}, ${validUntil}, 'open') returning id`
      : sql`update reservations set state = 'open', block_number = null, updated_at = now(),
          max_cost = greatest(max_cost, ${maxCost}::numeric),
          valid_until = greatest(valid_until, ${validUntil}::bigint)
        where id = ${known.id} returning id`
  const event = eventParts(decision.app_id, 'sponsorship.signed', signedEvent(decision))
  await sql`with reservation as (${reservation}),
    decision as (
      insert into decisions (id, app_id, chain_id, entry_point, sender, nonce, user_op_hash,
        sponsored, code, message, max_cost, valid_after, valid_until, policy_id, details,
        reservation_id)
      select ${decision.id}::uuid, ${decision.app_id}::uuid, ${decision.chain_id}::bigint,
        ${decision.entry_point}, ${decision.sender}, ${decision.nonce}::numeric,
        ${decision.user_op_hash}, ${decision.sponsored}::boolean, ${decision.code},
        ${decision.message}, ${decision.max_cost}::numeric, ${decision.valid_after}::bigint,
        ${decision.valid_until}::bigint, ${decision.policy_id ?? null}::uuid,
        ${decision.details ?? '{}'}::jsonb, id
      from reservation
    ),
    charge as (
      insert into charges (decision_id, reservation_id, policy_id, budget, subject, bucket, unit,
        amount, price)
      select ${decision.id}::uuid, reservation.id, c.* from reservation, unnest(
        ${charges.map(({ policyId }) => policyId)}::uuid[],
        ${charges.map(({ budget }) => budget)}::text[],
        ${charges.map(({ subject }) => subject)}::text[],
        ${charges.map(({ bucket }) => bucket)}::bigint[],
        ${charges.map(({ unit }) => unit)}::text[],
        ${charges.map(({ amount }) => amount)}::numeric[],
        ${charges.map(({ price }) => price ?? null)}::numeric[]) as c
    ),
    counter as (
      ${additions(charges.map((charge) => ({ ...charge, used: charge.added, settled: 0n })))}
    ),
    ${event.parts}
    ${event.deliver}`.execute(trx)
  await insertWebhookCalls(trx, decision, calls)
}
