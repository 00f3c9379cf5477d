import { type Selectable, sql } from 'kysely'
import type { Address } from 'viem'
import type { Database, Transaction } from '../../db/database.js'
import type { Schema } from '../../db/schema.generated.js'
import { liveApps } from '../../tenants/apps.js'
import { findRow } from '../../tenants/resource.js'
import { SPENDING_DAYS } from '../runway.js'

/** How an app pays on a chain. */
export type FundMode = Schema['funds']['mode']

/** How an app pays on a chain, the same for every EntryPoint. */
export type StoredFund = Selectable<Schema['funds']>

const funds = { table: 'funds' } as const

export function findFund(
  db: Database,
  appId: string,
  chainId: number,
): Promise<StoredFund | undefined> {
  return findRow(db, funds, { app_id: appId, chain_id: BigInt(chainId) })
}

/** The funds of a chain, but for those of apps that ended. */
export function listFunds(db: Database, chainId: number): Promise<StoredFund[]> {
  return db
    .selectFrom('funds')
    .selectAll()
    .where('chain_id', '=', BigInt(chainId))
    .where('app_id', 'in', liveApps(db).select('apps.id'))
    .execute()
}

/** Stores a fund that pays from the app's own tank, where there is none. */
export async function ensureFund(trx: Transaction, appId: string, chainId: number): Promise<void> {
  await trx
    .insertInto('funds')
    .values({ app_id: appId, chain_id: BigInt(chainId), mode: 'tank' })
    .onConflict((conflict) => conflict.doNothing())
    .execute()
}

type Credit = {
  readonly fundId: string
  /** wei; negative = taken */
  readonly amount: bigint
  /** Name of the reason, such as a payment; one reference counts once. */
  readonly reference: string
}

/**
 * Stores a credit; a positive one is also added to `credited`. Returns undefined when it is new, else
 * the amount that is already stored under its reference; then nothing changes.
 */
export async function insertCredit(
  trx: Transaction,
  { fundId, amount, reference }: Credit,
): Promise<bigint | undefined> {
  const inserted = await trx
    .insertInto('credits')
    .values({ fund_id: fundId, amount, reference })
    .onConflict((conflict) => conflict.columns(['fund_id', 'reference']).doNothing())
    .returning('id')
    .executeTakeFirst()
  if (inserted === undefined) {
    const { amount: storedAmount } = await trx
      .selectFrom('credits')
      .select('amount')
      .where('fund_id', '=', fundId)
      .where('reference', '=', reference)
      .executeTakeFirstOrThrow()
    return storedAmount
  }
  if (amount > 0n) {
    await trx
      .updateTable('funds')
      .set(({ eb }) => ({ credited: eb('credited', '+', amount), updated_at: sql<Date>`now()` }))
      .where('id', '=', fundId)
      .execute()
  }
  return undefined
}

/** wei of a fund's credit: `used` are spent or reserved, `settled` are spent. */
type CreditUse = { readonly used: bigint; readonly settled: bigint }

/** The use of a fund's credit by the ledger. */
export async function readCreditUse(db: Database, fundId: string): Promise<CreditUse> {
  const row = await db
    .selectFrom('budget_counters')
    .select(({ fn }) => [
      fn.coalesce(fn.sum<bigint>('used'), sql<bigint>`0`).as('used'),
      fn.coalesce(fn.sum<bigint>('settled'), sql<bigint>`0`).as('settled'),
    ])
    .where('policy_id', '=', fundId)
    .executeTakeFirstOrThrow()
  return { used: BigInt(row.used), settled: BigInt(row.settled) }
}

/** wei that sponsorships cost one payer in the last SPENDING_DAYS, and the days since the first. */
export async function recentSpending(
  db: Database,
  { chainId, payer }: SpendingQuery,
): Promise<{ readonly spent: bigint; readonly days: number }> {
  const { rows } = await sql<{ spent: bigint; days: number }>`
    select coalesce(sum(actual_cost), 0)::numeric(78, 0) as spent,
      coalesce(extract(epoch from now() - min(created_at)) / 86400, 0)::double precision as days
    from reservations r
    where chain_id = ${chainId} and created_at > now() - make_interval(days => ${SPENDING_DAYS})
      and state in ('included', 'settled') and ${isPaidBy(payer)}`.execute(db)
  return rows[0] ?? { spent: 0n, days: 0 }
}

type SpendingQuery = {
  readonly chainId: number
  /** A tank of an app, the tank that apps share (`appId` null), or the credit of a fund. */
  readonly payer:
    | { readonly paymaster: Address; readonly appId: string | null }
    | { readonly fundId: string; readonly appId: string }
}

function isPaidBy(payer: SpendingQuery['payer']) {
  const ofApp = payer.appId === null ? sql`true` : sql`app_id = ${payer.appId}`
  if ('paymaster' in payer) return sql`${ofApp} and paymaster = ${payer.paymaster}`
  return sql`${ofApp} and exists (select from charges c
    where c.reservation_id = r.id and c.policy_id = ${payer.fundId})`
}
