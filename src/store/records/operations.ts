import { type Selectable, type SqlBool, sql } from 'kysely'
import type { Address, Hex } from 'viem'
import type { Database } from '../database.js'
import { type Page, type PageQuery, toPage } from '../page.js'
import type { OperationState, Schema } from '../schema.js'
import { isUuid } from '../uuid.js'

/** A row of a list of operations. */
export type ListedOperation = Pick<
  Selectable<Schema['operations']>,
  | 'chain_id'
  | 'hash'
  | 'entry_point'
  | 'app_id'
  | 'key_id'
  | 'sender'
  | 'nonce'
  | 'paymaster'
  | 'state'
  | 'reason_code'
  | 'reason'
  | 'prefund'
  | 'received_at'
  | 'updated_at'
> & {
  /** Null while it is not included; so are the others. */
  readonly success: boolean | null
  readonly actual_gas_cost: bigint | null
  readonly transaction_hash: Hex | null
}

/** Conditions that an operation must all fulfil. */
export type OperationFilter = {
  /** Undefined = all accounts, for the operator. */
  readonly accountId?: string | undefined
  readonly appId?: string | undefined
  readonly chainId?: number | undefined
  readonly state?: OperationState | undefined
  /** The code with which it was dropped. */
  readonly code?: string | undefined
  readonly sender?: Address | undefined
  readonly paymaster?: Address | undefined
  readonly entryPoint?: Address | undefined
  readonly from?: Date | undefined
  readonly until?: Date | undefined
}

/**
 * Operations by the time at which they were received, the newest first; ids may be any text. The cursor is
 * `chainId:hash` of the last one of the page before; one that names none gives an empty page.
 */
export async function listOperations(
  db: Database,
  filter: OperationFilter,
  { limit, before }: PageQuery,
): Promise<Page<ListedOperation>> {
  const { accountId, appId } = filter
  const cursor = before === undefined ? undefined : parseCursor(before)
  const isKnown = [accountId, appId].every((id) => id === undefined || isUuid(id))
  if (!isKnown || (before !== undefined && cursor === undefined))
    return { items: [], next: undefined }
  const conditions = [
    ...conditionsOf(filter),
    ...(cursor === undefined ? [] : [olderThan(cursor)]),
  ].map((condition) => sql`and ${condition}`)
  // Each app's newest come from its own index; an account has few apps.
  const { rows } = await sql<ListedOperation>`
    select o.chain_id, o.hash, o.entry_point, o.app_id, o.key_id, o.sender, o.nonce, o.paymaster, o.state,
      o.reason_code, o.reason, o.prefund, o.received_at, o.updated_at,
      i.success, i.actual_gas_cost, i.transaction_hash
    from apps a cross join lateral (
      select * from operations o where o.app_id = a.id ${sql.join(conditions, sql` `)}
      order by o.received_at desc, o.hash desc limit ${limit + 1}
    ) o left join inclusions i on i.chain_id = o.chain_id and i.user_op_hash = o.hash
    where ${accountId === undefined ? sql`true` : sql`a.account_id = ${accountId}`}
      and ${appId === undefined ? sql`true` : sql`a.id = ${appId}`}
    order by o.received_at desc, o.hash desc limit ${limit + 1}`.execute(db)
  return toPage(rows, limit, ({ chain_id, hash }) => `${chain_id}:${hash}`)
}

type Cursor = { readonly chainId: bigint; readonly hash: string }

function parseCursor(text: string): Cursor | undefined {
  const [, chainId = '', hash = ''] = /^(\d{1,18}):(0x[0-9a-f]{64})$/.exec(text) ?? []
  return hash === '' ? undefined : { chainId: BigInt(chainId), hash }
}

function olderThan({ chainId, hash }: Cursor) {
  return sql<SqlBool>`(o.received_at, o.hash) < (
    select received_at, hash from operations where chain_id = ${chainId} and hash = ${hash})`
}

function conditionsOf(filter: OperationFilter) {
  const { chainId, state, code, sender, paymaster, entryPoint, from, until } = filter
  return [
    ...(chainId === undefined ? [] : [sql<SqlBool>`o.chain_id = ${chainId}`]),
    ...(state === undefined ? [] : [sql<SqlBool>`o.state = ${state}`]),
    ...(code === undefined ? [] : [sql<SqlBool>`o.reason_code = ${code}`]),
    ...(sender === undefined ? [] : [sql<SqlBool>`o.sender = ${sender}`]),
    ...(paymaster === undefined ? [] : [sql<SqlBool>`o.paymaster = ${paymaster}`]),
    ...(entryPoint === undefined ? [] : [sql<SqlBool>`o.entry_point = ${entryPoint}`]),
    ...(from === undefined ? [] : [sql<SqlBool>`o.received_at >= ${from}`]),
    ...(until === undefined ? [] : [sql<SqlBool>`o.received_at < ${until}`]),
  ]
}

/** Everything that the database knows of one operation. */
export type OperationRecord = {
  readonly operation: Selectable<Schema['operations']>
  readonly history: readonly Selectable<Schema['operation_history']>[]
  /** The bundles that it is or was in, with their transactions. */
  readonly bundles: readonly Selectable<Schema['bundles']>[]
  readonly transactions: readonly Omit<Selectable<Schema['bundle_transactions']>, 'raw'>[]
  readonly inclusion: Omit<Selectable<Schema['inclusions']>, 'logs'> | undefined
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
    .selectAll('o')
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
