import { type RawBuilder, sql } from 'kysely'
import type { Database } from './database.js'

/** Part of a list, newest first. `next` is the cursor of the following page; undefined = there is none. */
export type Page<Item> = { readonly items: readonly Item[]; readonly next: string | undefined }

export type PageQuery = {
  readonly limit: number
  /** The `next` of the page before. */
  readonly before: string | undefined
}

/** A page from `limit + 1` rows; `cursorOf` names the place of a row. */
export function toPage<Item>(
  rows: readonly Item[],
  limit: number,
  cursorOf: (item: Item) => string,
): Page<Item> {
  const items = rows.slice(0, limit)
  const last = items.at(-1)
  return { items, next: rows.length > limit && last !== undefined ? cursorOf(last) : undefined }
}

/** A table that is listed by app and time, the newest first, by an index on both. */
type ScannedTable = {
  readonly name: 'operations' | 'live_operations' | 'decisions'
  readonly at: 'received_at' | 'created_at'
  /** Orders rows of the same time. */
  readonly id: 'hash' | 'id'
}

/** Rows that a page looks at, for conditions that no index helps with; either takes some 20 to 40 ms. */
export const mostScanned = {
  /** The condition is about the row itself. */
  ownRow: 10_000,
  /** Another table is looked into for each row. */
  otherTable: 500,
} as const
/** Rows of each app at least, however many apps there are. */
const LEAST_OF_APP = 200

/** The number of rows of one app that a page looks at, of the apps `a` that fulfil `scope`. */
export function scanLimit(scope: RawBuilder<unknown>, most: number) {
  return sql`(select greatest(${LEAST_OF_APP}, ${most} / greatest(count(*), 1))
    from apps a where ${scope})`
}

/** The rows that a page looks at. */
type Scan = {
  /** A condition on apps `a`. */
  readonly scope: RawBuilder<unknown>
  /** A condition on rows `o` that an index fulfils. */
  readonly indexed: RawBuilder<unknown>
  readonly most: number
}

/**
 * The oldest row down to which a page has seen all that its scan allows, of every app; undefined = the scan
 * reaches the end.
 */
export async function scanEdge<Row>(
  db: Database,
  { name, at, id }: ScannedTable,
  { scope, indexed, most }: Scan,
): Promise<Row | undefined> {
  const order = sql`o.${sql.ref(at)} desc, o.${sql.ref(id)} desc`
  const { rows } = await sql<Row>`select o.* from apps a cross join lateral (
      select ${name === 'decisions' ? sql`o.id` : sql`o.chain_id, o.hash`}, o.${sql.ref(at)}
      from ${sql.table(name)} o where o.app_id = a.id and ${indexed}
      order by ${order} offset ${scanLimit(scope, most)} - 1 limit 1
    ) o where ${scope} order by ${order} limit 1`.execute(db)
  return rows[0]
}

/** Conditions that these columns of `table` have these values; one that is undefined sets none. */
export function haveValues(
  table: string,
  values: Readonly<Record<string, unknown>>,
): readonly RawBuilder<unknown>[] {
  return Object.entries(values).flatMap(([column, value]) =>
    value === undefined ? [] : [sql`${sql.ref(`${table}.${column}`)} = ${value}`],
  )
}

/** A span of time that a list is about; undefined = it has no such end. */
type Span = { readonly from?: Date | undefined; readonly until?: Date | undefined }

/** Conditions that a column has a time of the span. */
export function isWithin(column: string, { from, until }: Span): readonly RawBuilder<unknown>[] {
  return [
    ...(from === undefined ? [] : [sql`${sql.ref(column)} >= ${from}`]),
    ...(until === undefined ? [] : [sql`${sql.ref(column)} < ${until}`]),
  ]
}

/** All of these conditions, which may be none. */
export function allOf(conditions: readonly RawBuilder<unknown>[]): RawBuilder<unknown> {
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `)
}
