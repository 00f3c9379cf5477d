import { type Selectable, sql } from 'kysely'
import type { Hex } from 'viem'
import { z } from 'zod'
import type { Database } from '../db/database.js'
import type { Schema } from '../db/schema.generated.js'
import { type AnswerOf, signed, wei } from '../tenants/schemas.js'

/** Everything that the database knows of one operation. */
export type OperationRecord = {
  /** With the name of the key that sent it last. */
  readonly operation: Selectable<Schema['operations']> & { readonly key_name: string | null }
  readonly history: readonly Selectable<Schema['operation_history']>[]
  /** The bundles that it is or was in, with their transactions. */
  readonly bundles: readonly Selectable<Schema['bundles']>[]
  readonly transactions: readonly Omit<Selectable<Schema['bundle_transactions']>, 'raw'>[]
  readonly inclusion: Selectable<Schema['inclusions']> | undefined
  readonly decisions: readonly Pick<
    Selectable<Schema['decisions']>,
    'id' | 'sponsored' | 'code' | 'message' | 'created_at'
  >[]
}

/** One operation; with `accountId` only when it is that account's. */
export async function findOperationRecord(
  db: Database,
  chainId: number,
  hash: Hex,
  accountId?: string,
): Promise<OperationRecord | undefined> {
  const chain = BigInt(chainId)
  const operation = await db
    .selectFrom('operations as o')
    .innerJoin('apps as a', 'a.id', 'o.app_id')
    .leftJoin('keys as k', 'k.id', 'o.key_id')
    .selectAll('o')
    .select('k.name as key_name')
    .where('o.chain_id', '=', chain)
    .where('o.hash', '=', hash)
    .$if(accountId !== undefined, (query) => query.where('a.account_id', '=', accountId ?? ''))
    .executeTakeFirst()
  if (operation === undefined) return undefined
  const [history, inclusion, decisions] = await Promise.all([
    db
      .selectFrom('operation_history')
      .selectAll()
      .where('chain_id', '=', chain)
      .where('hash', '=', hash)
      .orderBy('id')
      .limit(200)
      .execute(),
    db
      .selectFrom('inclusions')
      .selectAll()
      .where('chain_id', '=', chain)
      .where('user_op_hash', '=', hash)
      .executeTakeFirst(),
    db
      .selectFrom('decisions')
      .select(['id', 'sponsored', 'code', 'message', 'created_at'])
      .where('chain_id', '=', chain)
      .where('user_op_hash', '=', hash)
      // Another tenant may have asked for the same operation.
      .where('app_id', '=', operation.app_id)
      .orderBy('created_at')
      .limit(50)
      .execute(),
  ])
  const ids = [operation.bundle_id, ...history.map(({ bundle_id }) => bundle_id)].filter(
    (id) => id !== null,
  )
  const isOfBundles = sql<boolean>`any(${ids}::bigint[])`
  const [bundles, transactions] = await Promise.all([
    db.selectFrom('bundles').selectAll().where(sql<boolean>`id = ${isOfBundles}`).execute(),
    db
      .selectFrom('bundle_transactions')
      .select(['chain_id', 'hash', 'bundle_id', 'max_fee_per_gas', 'max_priority_fee_per_gas'])
      .select(['max_cost', 'noop', 'created_at'])
      .where(sql<boolean>`bundle_id = ${isOfBundles}`)
      .orderBy('created_at')
      .execute(),
  ])
  return { operation, history, bundles, transactions, inclusion, decisions }
}

/** wei of the bundle of ours that a transaction is. */
export const bundleMoney = z.object({
  /** The operations that it includes. */
  operations: z.int(),
  /** What they were charged, all together. */
  charges: wei,
  /** What the transaction cost its executor; null where that is not known yet. */
  cost: wei.nullable(),
  /** What goes back to tanks that paid more than their share. */
  returned: wei,
  /** What is left to the executor: charges less cost and what is returned; null as the cost. */
  margin: signed.nullable(),
})

/** The money of the bundle that included an operation; undefined where another bundler sent it. */
export async function findBundleMoney(
  db: Database,
  { inclusion, bundles }: Pick<OperationRecord, 'inclusion' | 'bundles'>,
): Promise<AnswerOf<typeof bundleMoney> | undefined> {
  const bundle = bundles.find(
    ({ transaction_hash: hash }) => hash !== null && hash === inclusion?.transaction_hash,
  )
  if (bundle === undefined || inclusion === undefined) return undefined
  const { chain_id, block_number, transaction_hash } = inclusion
  const { rows } = await sql<{ operations: number; charges: bigint; returned: bigint }>`
    select count(*)::integer as operations, sum(actual_gas_cost) as charges, (
        select coalesce(sum(amount), 0) from surpluses
        where chain_id = ${chain_id} and transaction_hash = ${transaction_hash}) as returned
    from inclusions where chain_id = ${chain_id} and block_number = ${block_number}
      and transaction_hash = ${transaction_hash}`.execute(db)
  const [money] = rows
  const { cost } = bundle
  if (money === undefined) return undefined
  const margin = cost === null ? null : money.charges - cost - money.returned
  return { ...money, cost, margin }
}

/** The app that sent an operation, and its account. */
export function findOperationOwner(
  db: Database,
  chainId: number,
  hash: Hex,
): Promise<{ readonly appId: string; readonly accountId: string } | undefined> {
  return db
    .selectFrom('operations as o')
    .innerJoin('apps as a', 'a.id', 'o.app_id')
    .select(['a.id as appId', 'a.account_id as accountId'])
    .where('o.chain_id', '=', BigInt(chainId))
    .where('o.hash', '=', hash)
    .executeTakeFirst()
}
