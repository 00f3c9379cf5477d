import { type Nullable, type Selectable, sql } from 'kysely'
import type { Address, Hex } from 'viem'
import { z } from 'zod'
import { type Camel, snakeCased } from '../db/camelCased.js'
import type { Database } from '../db/database.js'
import {
  allOf,
  haveValues,
  isWithin,
  mostScanned,
  type Page,
  type PageQuery,
  scanEdge,
  scanLimit,
  toPage,
} from '../db/page.js'
import type { Schema } from '../db/schema.generated.js'
import { isUuid } from '../db/uuid.js'
import { isLive } from '../mempool/pool/operations.js'
import {
  address,
  chainId,
  code,
  date,
  hash,
  id,
  lowerAddress,
  time,
  wei,
} from '../tenants/schemas.js'

/** A row of a list of operations. A member is the column of that name, or of `otherColumns`, of the operation. */
export const listedOperation = z.object({
  chainId: z.int(),
  userOpHash: hash,
  entryPoint: address,
  appId: id,
  /** The key that sent it; null where none did. */
  keyId: id.nullable(),
  sender: address,
  nonce: z.string(),
  paymaster: address.nullable(),
  state: z.enum(['pooled', 'bundled', 'included', 'dropped', 'replaced']),
  /** The code and the reason with which it was dropped or replaced. */
  code: z.string().nullable(),
  reason: z.string().nullable(),
  /** What it may cost at most, and what it cost. */
  maxCost: wei,
  actualCost: wei.nullable(),
  /** Whether its call succeeded; null while it is not included. */
  success: z.boolean().nullable(),
  transactionHash: hash.nullable(),
  receivedAt: time,
  updatedAt: time,
})

const otherColumns = {
  userOpHash: sql`o.hash`,
  code: sql`o.reason_code`,
  maxCost: sql`o.prefund`,
  actualCost: sql`i.actual_gas_cost`,
  success: sql`i.success`,
  transactionHash: sql`i.transaction_hash`,
}

const listedColumns = sql.join(
  Object.keys(listedOperation.shape).map(
    (member) =>
      otherColumns[member as keyof typeof otherColumns] ?? sql.ref(`o.${snakeCased(member)}`),
  ),
)

type Stored = Selectable<Schema['operations']>

export type ListedOperation = {
  readonly [Name in keyof Stored as Camel<Name> extends keyof typeof listedOperation.shape
    ? Name
    : Name & ('hash' | 'reason_code' | 'prefund')]: Stored[Name]
} & Nullable<
  Pick<Selectable<Schema['inclusions']>, 'success' | 'actual_gas_cost' | 'transaction_hash'>
>

/** Conditions that an operation must all fulfil. */
export const operationFilter = z.strictObject({
  appId: id.optional(),
  chainId: chainId.optional(),
  state: listedOperation.shape.state.optional(),
  /** What became of it: `failed` was included and its call reverted; a replaced one counts as dropped. */
  outcome: z.enum(['inFlight', 'included', 'failed', 'dropped']).optional(),
  /** The code with which it was dropped. */
  code: code.optional(),
  sender: lowerAddress.optional(),
  /** The beginning of its hash. */
  hash: z
    .string()
    .regex(/^0x[0-9a-fA-F]{4,64}$/, 'must be 0x and 4 to 64 hexadecimal digits')
    .transform((text) => text.toLowerCase())
    .optional(),
  paymaster: lowerAddress.optional(),
  entryPoint: lowerAddress.optional(),
  /** The policy that sponsored it. */
  policyId: id.optional(),
  from: date.optional(),
  until: date.optional(),
})

type OperationFilter = z.output<typeof operationFilter> & {
  /** Undefined = all accounts, for the operator. */
  readonly accountId?: string | undefined
}

const table = { at: 'received_at', id: 'hash' } as const

/**
 * Operations by the time at which they were received, the newest first; ids may be any text. A cursor that
 * names no operation gives an empty page. A page looks at a bounded number of operations: one with few items, or none,
 * may have a `next`.
 */
export async function listOperations(
  db: Database,
  filter: OperationFilter,
  { limit, before }: PageQuery,
): Promise<Page<ListedOperation>> {
  const { accountId, appId, policyId } = filter
  const cursor = before === undefined ? undefined : parseCursor(before)
  const isKnown = [accountId, appId, policyId].every((id) => id === undefined || isUuid(id))
  if (!isKnown) return { items: [], next: undefined }
  const scope = allOf(haveValues('a', { account_id: accountId, id: appId }))
  const indexed = allOf([
    ...indexedConditions(filter),
    ...(cursor === undefined ? [] : [sql`(o.received_at, o.hash) < ${placeOf(cursor)}`]),
  ])
  const others = otherConditions(filter)
  const few = await fewOperations(db, filter)
  if (few !== undefined) {
    const named = sql`operations o join unnest(${few.map(({ chain_id }) => chain_id)}::bigint[],
        ${few.map(({ hash }) => hash)}::text[]) as e (chain_id, hash)
      on e.chain_id = o.chain_id and e.hash = o.hash`
    const { rows } = await sql<ListedOperation>`select ${listedColumns} from (
        select o.* from ${named} join apps a on a.id = o.app_id
        where ${scope} and ${indexed} and ${allOf(others)}
        order by o.received_at desc, o.hash desc limit ${limit + 1}
      ) o ${withInclusion} order by o.received_at desc, o.hash desc`.execute(db)
    return toPage(rows, limit, cursorOf)
  }
  const most = looksIntoOtherTables(filter) ? mostScanned.otherTable : mostScanned.ownRow
  const scan = { scope, indexed, most }
  const isPooled = isOfPool(filter)
  const name = isPooled ? 'live_operations' : 'operations'
  const edge = others.length === 0 ? undefined : await scanEdge<Place>(db, { ...table, name }, scan)
  const newest = sql`select * from ${sql.table(name)} o where o.app_id = a.id and ${indexed}
    order by o.received_at desc, o.hash desc
    limit ${others.length === 0 ? sql`${limit + 1}` : scanLimit(scope, most)}`
  // Each app's newest come from its own index; an account has few apps.
  const { rows } = await sql<ListedOperation>`
    select ${listedColumns} from apps a cross join lateral (
      select * from (
        ${isPooled ? sql`select o.* from (${newest}) l join operations o on ${isLive}` : newest}
      ) o where ${allOf(others)} order by o.received_at desc, o.hash desc limit ${limit + 1}
    ) o ${withInclusion}
    where ${scope} and ${edge === undefined ? sql`true` : sql`(o.received_at, o.hash) >= ${placeOf(edge)}`}
    order by o.received_at desc, o.hash desc limit ${limit + 1}`.execute(db)
  const page = toPage(rows, limit, cursorOf)
  return edge === undefined || page.next !== undefined ? page : { ...page, next: cursorOf(edge) }
}

const withInclusion = sql`left join inclusions i
  on i.chain_id = o.chain_id and i.user_op_hash = o.hash`

/** The cursor of a list of operations: `chainId:hash` of the last one of a page. */
export const operationCursor = /^\d{1,18}:0x[0-9a-f]{64}$/

/** The operation after which a page begins. */
type Place = { readonly chain_id: bigint; readonly hash: Hex }

function cursorOf({ chain_id, hash }: Place): string {
  return `${chain_id}:${hash}`
}

/** `text` is of the form `operationCursor`. */
function parseCursor(text: string): Place {
  const [chainId = '', hash = ''] = text.split(':')
  return { chain_id: BigInt(chainId), hash: hash as Hex }
}

function placeOf({ chain_id, hash }: Place) {
  return sql`(select received_at, hash from operations
    where chain_id = ${chain_id} and hash = ${hash})`
}

/** Whether the filter leaves only operations of the pool, whose table has the columns of `indexedConditions`. */
function isOfPool({ state, outcome }: OperationFilter): boolean {
  return state === 'pooled' || state === 'bundled' || outcome === 'inFlight'
}

/** Conditions by which an index gives the newest of an app in their order, or few at all. */
function indexedConditions(filter: OperationFilter) {
  const { state, outcome, code } = filter
  const endedBadly = state === 'dropped' || state === 'replaced'
  return [
    ...haveValues('o', { state }),
    ...(outcome === 'inFlight' ? [sql`o.state in ('pooled', 'bundled')`] : []),
    // The conditions of indexes.
    ...(isOfPool(filter) ? [sql`o.app_id > '00000000-0000-0000-0000-000000000000'`] : []),
    ...(code !== undefined || endedBadly
      ? [isOfPool(filter) ? sql`false` : sql`o.ended_badly_at is not null`]
      : []),
    ...isWithin('o.received_at', filter),
  ]
}

function ofSuccess(success: boolean) {
  return sql`o.state = 'included' and exists (select from inclusions i
    where i.chain_id = o.chain_id and i.user_op_hash = o.hash and i.success = ${success})`
}

const outcomeConditions = {
  included: ofSuccess(true),
  failed: ofSuccess(false),
  dropped: sql`o.ended_badly_at is not null`,
} as const

function looksIntoOtherTables({ policyId, outcome }: OperationFilter): boolean {
  return policyId !== undefined || outcome === 'included' || outcome === 'failed'
}

function otherConditions(filter: OperationFilter) {
  const { chainId, code, sender, hash, paymaster, entryPoint, policyId, outcome } = filter
  return [
    ...(outcome === undefined || outcome === 'inFlight' ? [] : [outcomeConditions[outcome]]),
    ...haveValues('o', {
      chain_id: chainId,
      reason_code: code,
      sender,
      paymaster,
      entry_point: entryPoint,
    }),
    ...(hash === undefined ? [] : [sql`starts_with(o.hash, ${hash})`]),
    ...(policyId === undefined
      ? []
      : [
          sql`${policyId} = any(array(select d.policy_id from decisions d
            where d.chain_id = o.chain_id and d.user_op_hash = o.hash and d.app_id = o.app_id))`,
        ]),
  ]
}

/** More operations of one sender, or with one beginning, are found among those of the apps. */
const MOST_NAMED = 2_000

/** The operations, of all tenants, that a filter narrows down to few; undefined = it does not. */
async function fewOperations(
  db: Database,
  { hash, sender }: OperationFilter,
): Promise<readonly Place[] | undefined> {
  const few =
    hash !== undefined ? ofHash(hash) : sender !== undefined ? ofSender(sender) : undefined
  if (few === undefined) return undefined
  const { rows } = await few.execute(db)
  return rows.length > MOST_NAMED ? undefined : rows
}

/** By the primary key, one chain after the other. No hexadecimal digit sorts behind a g. */
function ofHash(beginning: string) {
  return sql<Place>`with recursive places as (
      (select chain_id from operations order by chain_id limit 1)
      union all
      select o.chain_id from places p cross join lateral (
        select chain_id from operations where chain_id > p.chain_id order by chain_id limit 1) o
    )
    select o.chain_id, o.hash from places p join operations o
      on o.chain_id = p.chain_id and o.hash >= ${beginning} and o.hash < ${`${beginning}g`}
    limit ${MOST_NAMED + 1}`
}

/** By indexes that exist for other reasons. */
function ofSender(sender: Address) {
  return sql<Place>`with recursive places as (
      (select chain_id, entry_point from inclusions order by chain_id, entry_point limit 1)
      union all
      select i.chain_id, i.entry_point from places p cross join lateral (
        select chain_id, entry_point from inclusions
        where (chain_id, entry_point) > (p.chain_id, p.entry_point)
        order by chain_id, entry_point limit 1) i
    ), live_places as (
      (select chain_id, entry_point from live_operations
        order by chain_id, entry_point limit 1)
      union all
      select o.chain_id, o.entry_point from live_places p cross join lateral (
        select chain_id, entry_point from live_operations
        where (chain_id, entry_point) > (p.chain_id, p.entry_point)
        order by chain_id, entry_point limit 1) o
    )
    select i.chain_id, i.user_op_hash as hash from places p join inclusions i
      on i.chain_id = p.chain_id and i.entry_point = p.entry_point and i.sender = ${sender}
    union
    select l.chain_id, l.hash from live_places p join live_operations l
      on l.chain_id = p.chain_id and l.entry_point = p.entry_point and l.sender = ${sender}
    union
    select chain_id, hash from operations
      where sender = ${sender} and ended_badly_at is not null
    limit ${MOST_NAMED + 1}`
}
