import { sql } from 'kysely'
import type { Hex } from 'viem'
import type { EventType } from '../base/vocabulary.js'
import type { Database, Transaction, TransactionExecutor } from './database.js'
import { inTransaction } from './inTransaction.js'

/**
 * Writes an event to the outbox, in the transaction of the change that it reports, for every
 * subscription of the app that wants it; without such a subscription nothing is written.
 */
export async function emitEvent(
  trx: Transaction,
  appId: string,
  type: EventType,
  data: Readonly<Record<string, unknown>>,
): Promise<void> {
  const { parts, deliver } = eventParts([{ appId, type, data }])
  await sql`with ${parts} ${deliver}`.execute(trx)
}

type NewEvent = {
  readonly appId: string
  readonly type: EventType
  readonly data: Readonly<Record<string, unknown>>
}

/** Parts of a statement that writes events: members of its `with`, and its last part. */
export function eventParts(events: readonly NewEvent[]) {
  return {
    parts: sql`event as (
      insert into events (app_id, type, data)
      select e.app_id, e.type, e.data from unnest(
        ${events.map(({ appId }) => appId)}::uuid[],
        ${events.map(({ type }) => type)}::text[],
        ${events.map(({ data }) => JSON.stringify(data))}::jsonb[]) as e (app_id, type, data)
      where exists (select from event_subscriptions s
        where s.app_id = e.app_id and s.active and e.type = any(s.event_types))
      returning id, app_id, type
    )`,
    deliver: sql`insert into event_deliveries (event_id, subscription_id)
    select event.id, s.id from event join event_subscriptions s
      on s.app_id = event.app_id and s.active and event.type = any(s.event_types)`,
  }
}

/** The channel on which the ends of operations are announced: a chain id, then hashes. */
export const ENDED_CHANNEL = 'purser_ended'

/** Hashes of one announcement: PostgreSQL takes 8,000 bytes. */
const HASHES_TOLD = 100

/** The announcements of `hashes`, which are delivered when the transaction commits. */
function tidings(chainId: number, hashes: readonly Hex[]): string[] {
  const parts = Math.ceil(hashes.length / HASHES_TOLD)
  return Array.from({ length: parts }, (_, part) =>
    [chainId, ...hashes.slice(part * HASHES_TOLD, (part + 1) * HASHES_TOLD)].join(' '),
  )
}

/**
 * Writes the events of operations that this transaction has included, dropped or replaced, and announces their
 * ends to the listeners that count them. Without any subscription, no operation is read for it.
 */
export async function emitOperationEvents(
  trx: TransactionExecutor,
  chainId: number,
  hashes: readonly Hex[],
): Promise<void> {
  if (hashes.length === 0) return
  await sql`with ended as (
      select o.*, i.success, i.transaction_hash, i.block_number, i.actual_gas_cost,
        i.actual_gas_used, case
          when o.state <> 'included' then 'user_operation.dropped'
          when i.success then 'user_operation.included'
          else 'user_operation.failed' end as type
      from operations o
      left join inclusions i on i.chain_id = o.chain_id and i.user_op_hash = o.hash
        and o.state = 'included'
      where o.chain_id = ${chainId} and o.hash = any(${[...hashes]}::text[])
        and o.state in ('included', 'dropped', 'replaced')
        and exists (select from event_subscriptions where active)
    ), event as (
      insert into events (app_id, type, data)
      select app_id, type, jsonb_strip_nulls(jsonb_build_object(
        'chainId', chain_id, 'userOpHash', hash, 'entryPoint', entry_point, 'sender', sender,
        'nonce', nonce::text, 'transactionHash', transaction_hash, 'blockNumber', block_number,
        'success', success, 'actualGasCost', actual_gas_cost::text,
        'actualGasUsed', actual_gas_used::text, 'code', reason_code, 'reason', reason))
      from ended
      where exists (select from event_subscriptions s
        where s.app_id = ended.app_id and s.active and ended.type = any(s.event_types))
      returning id, app_id, type
    ), delivery as (
      insert into event_deliveries (event_id, subscription_id)
      select event.id, s.id from event join event_subscriptions s
        on s.app_id = event.app_id and s.active and event.type = any(s.event_types)
    )
    select pg_notify(${ENDED_CHANNEL}, tiding)
    from unnest(${tidings(chainId, hashes)}::text[]) as tiding`.execute(trx)
}

/** Writes the events of those of these reservations that this transaction has made final. */
export async function emitReservationEvents(
  trx: Transaction,
  ids: readonly bigint[],
): Promise<void> {
  await sql`with final as (
      select *, case state when 'settled' then 'sponsorship.settled'
        else 'sponsorship.expired' end as type
      from reservations
      where id = any(${[...ids]}::bigint[]) and state in ('settled', 'released')
    ), event as (
      insert into events (app_id, type, data)
      select app_id, type, jsonb_strip_nulls(jsonb_build_object(
        'chainId', chain_id, 'entryPoint', entry_point, 'sender', sender, 'nonce', nonce::text,
        'paymaster', paymaster, 'userOpHash', user_op_hash, 'maxCostWei', max_cost::text,
        'actualCostWei', case state when 'settled' then actual_cost::text end))
      from final
      where exists (select from event_subscriptions s
        where s.app_id = final.app_id and s.active and final.type = any(s.event_types))
      returning id, app_id, type
    )
    insert into event_deliveries (event_id, subscription_id)
    select event.id, s.id from event join event_subscriptions s
      on s.app_id = event.app_id and s.active and event.type = any(s.event_types)`.execute(trx)
}

/** Tells a webhook's app that the webhook is not called for a while. */
export async function emitCircuitOpened(db: Database, webhookId: string): Promise<void> {
  const webhook = await db
    .selectFrom('webhooks')
    .select(['app_id', 'url'])
    .where('id', '=', webhookId)
    .executeTakeFirst()
  if (webhook === undefined) return
  const data = { webhookId, webhookUrl: webhook.url }
  await inTransaction(db, (trx) => emitEvent(trx, webhook.app_id, 'webhook.circuit_opened', data))
}

/** Deletes events that are older than `days`, delivered or not. */
export async function pruneEvents(db: Database, days: number): Promise<void> {
  await sql`delete from events where occurred_at < now() - make_interval(days => ${days})`.execute(
    db,
  )
}
