import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Database, Transaction } from '../../db/database.js'
import { allOf, haveValues } from '../../db/page.js'

/** An included operation that a paymaster paid; `taken` is what the paymaster reported, undefined = no report. */
export type PaidOperation = {
  readonly entryPoint: Address
  readonly userOpHash: Hex
  readonly paymaster: Address
  readonly sender: Address
  readonly nonce: bigint
  readonly blockNumber: bigint
  /** wei by the EntryPoint */
  readonly actualGasCost: bigint
  readonly taken:
    | { readonly token: Address; readonly charged: bigint; readonly cost: bigint }
    | undefined
}

/**
 * Books the amounts that our token tanks took or missed; operations of other paymasters are ignored,
 * and repetition changes nothing. The quote says which app and token it was: that of the operation's
 * hash, else, because the sender can give a quote other permit bytes and so another hash, one of the same
 * sender, nonce and tank, by the order in which `settleLedger` charges. A tank that reports
 * nothing got nothing in mode `afterwards`, and else kept the amount that it had taken beforehand.
 */
export async function bookTokenPayments(
  trx: Transaction,
  chainId: number,
  paid: readonly PaidOperation[],
): Promise<void> {
  if (paid.length === 0) return
  await sql`insert into token_payments
      (chain_id, user_op_hash, app_id, tank, sender, token, charged, cost, missed, block_number)
    select distinct on (e.hash) ${chainId}::bigint, e.hash, d.app_id, e.tank, e.sender, q.token,
      coalesce(e.charged, case q.mode when 'afterwards' then 0 else q.max_charge end),
      coalesce(e.cost, e.gas_cost), e.charged is null and q.mode = 'afterwards', e.block_number
    from unnest(
        ${paid.map((each) => each.userOpHash)}::text[],
        ${paid.map((each) => each.entryPoint)}::text[],
        ${paid.map((each) => each.paymaster)}::text[],
        ${paid.map((each) => each.sender)}::text[],
        ${paid.map((each) => each.nonce)}::numeric[],
        ${paid.map((each) => each.taken?.token ?? null)}::text[],
        ${paid.map((each) => each.taken?.charged ?? null)}::numeric[],
        ${paid.map((each) => each.taken?.cost ?? null)}::numeric[],
        ${paid.map((each) => each.actualGasCost)}::numeric[],
        ${paid.map((each) => each.blockNumber)}::bigint[]
      ) as e (hash, entry_point, tank, sender, nonce, token, charged, cost, gas_cost, block_number)
      join tanks t on t.chain_id = ${chainId} and t.entry_point = e.entry_point
        and t.address = e.tank and t.kind = 'token'
      join reservations r on r.chain_id = ${chainId} and r.entry_point = e.entry_point
        and r.sender = e.sender and r.nonce = e.nonce and r.paymaster = e.tank
      join decisions d on d.reservation_id = r.id
      join token_quotes q on q.decision_id = d.id and q.token = coalesce(e.token, q.token)
    order by e.hash, (d.user_op_hash = e.hash) desc, r.max_cost desc, r.id, q.max_charge desc
    on conflict (chain_id, user_op_hash) do update set charged = excluded.charged,
      cost = excluded.cost, missed = excluded.missed, block_number = excluded.block_number`.execute(
    trx,
  )
}

/** Deletes the payments of blocks above `fork`. */
export async function undoTokenPayments(
  trx: Transaction,
  chainId: number,
  fork: bigint,
): Promise<void> {
  await sql`delete from token_payments
    where chain_id = ${chainId} and block_number > ${fork}`.execute(trx)
}

/** The time, after `since`, at which the sender last failed to pay a tank. */
export async function lastMissed(
  db: Database,
  chainId: number,
  sender: Address,
  since: Date,
): Promise<Date | undefined> {
  const row = await db
    .selectFrom('token_payments')
    .select('booked_at')
    .where('chain_id', '=', BigInt(chainId))
    .where('sender', '=', sender)
    .where('missed', '=', true)
    .where('booked_at', '>', since)
    .orderBy('booked_at', 'desc')
    .limit(1)
    .executeTakeFirst()
  return row?.booked_at
}

/** The tanks of a chain that ever took a token. */
export async function collectingTanks(
  db: Database,
  chainId: number,
  token: Address,
): Promise<Address[]> {
  const rows = await db
    .selectFrom('token_payments')
    .select('tank')
    .distinct()
    .where('chain_id', '=', BigInt(chainId))
    .where('token', '=', token)
    .execute()
  return rows.map(({ tank }) => tank)
}

/** The sum that an app's operations paid in a token to one tank. */
export type Collected = {
  readonly chainId: bigint
  readonly appId: string
  readonly tank: Address
  readonly token: Address
  /** Smallest token units. */
  readonly collected: bigint
  readonly payments: bigint
  readonly missed: bigint
  /** wei that missed payments cost the tank */
  readonly lost: bigint
}

const sums = sql`sum(p.charged)::numeric(78, 0) as collected,
  count(*) filter (where not p.missed) as payments, count(*) filter (where p.missed) as missed,
  coalesce(sum(p.cost) filter (where p.missed), 0)::numeric(78, 0) as lost`

export async function listCollected(
  db: Database,
  { chainId, appId }: { readonly chainId?: number; readonly appId?: string | undefined },
): Promise<readonly Collected[]> {
  const chosen = allOf(haveValues('p', { chain_id: chainId, app_id: appId }))
  const { rows } = await sql<Collected>`
    select chain_id as "chainId", app_id as "appId", tank, token, ${sums}
    from token_payments p where ${chosen}
    group by chain_id, app_id, tank, token order by chain_id, app_id, token, tank`.execute(db)
  return rows
}

/** The sum that all apps of an account collected of one token. */
export type AccountCollected = Pick<
  Collected,
  'chainId' | 'token' | 'collected' | 'payments' | 'missed' | 'lost'
>

export async function listCollectedOfAccount(
  db: Database,
  accountId: string,
): Promise<readonly AccountCollected[]> {
  const { rows } = await sql<AccountCollected>`
    select p.chain_id as "chainId", p.token, ${sums} from token_payments p join apps a on a.id = p.app_id
    where a.account_id = ${accountId}::uuid
    group by p.chain_id, p.token`.execute(db)
  return rows
}

/** The smallest token units that a tank ever collected, from all apps that use it. */
export async function collectedBy(
  db: Database,
  chainId: number,
  tank: Address,
  token: Address,
): Promise<bigint> {
  const { rows } = await sql<{ collected: bigint }>`
    select coalesce(sum(charged), 0)::numeric(78, 0) as collected from token_payments
    where chain_id = ${chainId} and tank = ${tank} and token = ${token}`.execute(db)
  return rows[0]?.collected ?? 0n
}
