import { sql } from 'kysely'
import type { CounterQuery } from './budgetCounters.js'
import type { Database } from './database.js'
import {
  type DepositAtHead,
  type LiveReservation,
  live,
  locking,
  type Slot,
} from './reservations.js'

/** What the ledger holds that bears on a sponsorship. */
export type LedgerBooks = {
  /** The live reservation of the slot. */
  readonly slot: LiveReservation | undefined
  /** wei that other slots take from the payer's deposit as it was at `head`. */
  readonly locked: bigint
  /** What is used of each budget asked for, in its unit and in the same order. */
  readonly used: readonly bigint[]
}

type Row = { readonly locked: bigint; readonly used: readonly string[] } & (
  | LiveReservation
  | { readonly id: null }
)

/** All of it in one statement, which is one moment of the ledger. */
export const readLedger = async (
  db: Database,
  slot: Slot,
  head: DepositAtHead,
  queries: readonly CounterQuery[],
): Promise<LedgerBooks> => {
  const { rows } = await sql<Row>`
    with slot as materialized (
      select id, state, max_cost, valid_until from reservations
      where chain_id = ${BigInt(slot.chainId)} and entry_point = ${slot.entryPoint}
        and sender = ${slot.sender} and nonce = ${slot.nonce} and app_id = ${slot.appId}
        and paymaster = ${slot.paymaster} and ${live}
    )
    select slot.id, slot.state, slot.max_cost as "maxCost", slot.valid_until as "validUntil",
      (select coalesce(sum(max_cost), 0)::numeric(78, 0) from reservations
        where ${locking(slot, head)} and id is distinct from slot.id) as locked,
      ${usedOfEach(queries)} as used
    from (select) as one left join slot on true`.execute(db)
  const [row] = rows
  if (row === undefined) throw new Error('a left join without a row')
  const { locked, used, ...reservation } = row
  return {
    slot: reservation.id === null ? undefined : reservation,
    locked,
    used: used.map(BigInt),
  }
}

/** As text, because the driver reads an array of numerics as floating point. */
const usedOfEach = (queries: readonly CounterQuery[]) => sql`array(
      select (select coalesce(sum(c.used), 0) from budget_counters c
        where c.policy_id = q.policy_id and c.budget = q.budget and c.subject = q.subject
          and c.bucket >= q.oldest)::text
      from unnest(
        ${queries.map(({ policyId }) => policyId)}::uuid[],
        ${queries.map(({ budget }) => budget)}::text[],
        ${queries.map(({ subject }) => subject)}::text[],
        ${queries.map(({ oldest }) => oldest)}::bigint[]
      ) with ordinality as q (policy_id, budget, subject, oldest, place)
      order by q.place)`
