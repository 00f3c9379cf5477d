import { type Insertable, type Selectable, sql } from 'kysely'
import { faultPoint } from '../faults.js'
import type { Database } from './database.js'
import type { Schema } from './schema.js'
import { insertWebhookCalls, type NewWebhookCall } from './webhookCalls.js'

export type StoredDecision = Selectable<Schema['decisions']>
export type NewDecision = Omit<Insertable<Schema['decisions']>, 'created_at'>

/** A block and what the tank's deposit was then (wei). */
export type DepositAtHead = {
  readonly deposit: bigint
  readonly blockNumber: bigint
  /** Unix seconds */
  readonly timestamp: number
}

/** Stores a decision that reserves nothing. */
export const insertDecision = (
  db: Database,
  decision: NewDecision,
  calls: readonly NewWebhookCall[],
): Promise<void> => db.transaction().execute((trx) => insert(trx, decision, calls))

/**
 * Stores a sponsorship if the tank's deposit covers it together with what all other live
 * sponsorships of the tank may cost; returns the wei that those lock, and whether it was stored.
 * One at a time per tank, over all processes.
 *
 * Only one operation can take a sender's nonce, so of the sponsorships of one nonce the dearest
 * counts. A sponsorship ends when an operation with its nonce was included, or when its time is
 * over. Both are read at the deposit's own block: what was included later, or can still be
 * included in a later block, has not been charged to that deposit.
 */
export const reserveSponsorship = (
  db: Database,
  tankId: string,
  decision: NewDecision,
  calls: readonly NewWebhookCall[],
  head: DepositAtHead,
): Promise<{ readonly granted: boolean; readonly locked: bigint }> =>
  db.transaction().execute(async (trx) => {
    await sql`select pg_advisory_xact_lock(hashtextextended(${tankId}, 0))`.execute(trx)
    const { locked, same } = await liveReservations(trx, decision, head)
    const granted = [same, decision.max_cost].every((cost) => locked + cost <= head.deposit)
    if (granted) await insert(trx, decision, calls)
    faultPoint('sponsorship:reserved')
    return { granted, locked }
  })

type Slot = Pick<NewDecision, 'app_id' | 'chain_id' | 'entry_point' | 'sender' | 'nonce'>

/** wei that live sponsorships of the app lock: those of other nonces, and of the slot's own nonce. */
const liveReservations = async (
  trx: Database,
  slot: Slot,
  head: DepositAtHead,
): Promise<{ locked: bigint; same: bigint }> => {
  const isSame = sql<boolean>`sender = ${slot.sender} and nonce = ${slot.nonce}`
  const live = trx
    .selectFrom('decisions as d')
    .select(({ fn }) => ['d.sender', 'd.nonce', fn.max('d.max_cost').as('cost')])
    .where('d.app_id', '=', slot.app_id)
    .where('d.chain_id', '=', slot.chain_id)
    .where('d.entry_point', '=', slot.entry_point)
    .where('d.sponsored', '=', true)
    .where('d.valid_until', '>=', BigInt(head.timestamp))
    .where(({ not, exists, selectFrom }) =>
      not(
        exists(
          selectFrom('inclusions as i')
            .select('i.user_op_hash')
            .whereRef('i.chain_id', '=', 'd.chain_id')
            .whereRef('i.entry_point', '=', 'd.entry_point')
            .whereRef('i.sender', '=', 'd.sender')
            .whereRef('i.nonce', '=', 'd.nonce')
            .where('i.block_number', '<=', head.blockNumber),
        ),
      ),
    )
    .groupBy(['d.sender', 'd.nonce'])
  return trx
    .selectFrom(live.as('live'))
    .select([
      sql<bigint>`coalesce(sum(cost) filter (where not (${isSame})), 0)::numeric(78, 0)`.as(
        'locked',
      ),
      sql<bigint>`coalesce(sum(cost) filter (where ${isSame}), 0)::numeric(78, 0)`.as('same'),
    ])
    .executeTakeFirstOrThrow()
}

const insert = async (
  trx: Database,
  decision: NewDecision,
  calls: readonly NewWebhookCall[],
): Promise<void> => {
  await trx.insertInto('decisions').values(decision).execute()
  await insertWebhookCalls(trx, decision, calls)
}

/** wei that live sponsorships of the app lock at `head`, for showing. */
export const lockedByApp = async (
  db: Database,
  tank: Pick<Slot, 'app_id' | 'chain_id' | 'entry_point'>,
  head: DepositAtHead,
): Promise<bigint> => {
  const none = { ...tank, sender: '0x', nonce: 0n } as const
  return (await liveReservations(db, none, head)).locked
}

export const findDecision = (db: Database, id: string): Promise<StoredDecision | undefined> =>
  db.selectFrom('decisions').selectAll().where('id', '=', id).executeTakeFirst()
