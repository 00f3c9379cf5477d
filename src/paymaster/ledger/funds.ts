import { type Selectable, sql } from 'kysely'
import type { Address } from 'viem'
import type { Database, Transaction } from '../../db/database.js'
import type { Schema } from '../../db/schema.generated.js'
import { findRow, findRows } from '../../tenants/resource.js'

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

/** All funds of a chain. */
export function listFunds(db: Database, chainId: number): Promise<StoredFund[]> {
  return findRows(db, funds, { chain_id: BigInt(chainId) })
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

/** wei that sponsorships of an app from one payer cost in the last `days`, and the days since the first. */
export async function recentSpending(
  db: Database,
  { appId, chainId, paymaster }: SpendingQuery,
  days: number,
): Promise<{ readonly spent: bigint; readonly days: number }> {
  const { rows } = await sql<{ spent: bigint; days: number }>`
    select coalesce(sum(actual_cost), 0)::numeric(78, 0) as spent,
      coalesce(extract(epoch from now() - min(created_at)) / 86400, 0)::double precision as days
    from reservations
    where chain_id = ${chainId} and created_at > now() - make_interval(days => ${days})
      and state in ('included', 'settled')
      and (${appId}::uuid is null or app_id = ${appId}::uuid)
      and (${paymaster}::text is null or paymaster = ${paymaster}::text)`.execute(db)
  return rows[0] ?? { spent: 0n, days: 0 }
}

type SpendingQuery = {
  readonly chainId: number
  /** null = of all apps */
  readonly appId: string | null
  /** null = of all payers */
  readonly paymaster: Address | null
}
