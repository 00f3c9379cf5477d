import {
  type Insertable,
  isExpression,
  type RawBuilder,
  type Selectable,
  sql,
  type Updateable,
} from 'kysely'
import type { z } from 'zod'
import { TenantLimitError } from '../base/errors/limitErrors.js'
import { snakeCased } from '../db/camelCased.js'
import type { Database } from '../db/database.js'
import type { Schema } from '../db/schema.generated.js'
import { isUuid } from '../db/uuid.js'
import type { AuditChange } from './audit.js'
import type { Row } from './schemas.js'

/** The tables of resources: their rows have an id, and belong to an app or an account. */
type Table =
  | 'accounts'
  | 'apps'
  | 'auth_tokens'
  | 'event_subscriptions'
  | 'funds'
  | 'invitations'
  | 'keys'
  | 'policies'
  | 'sessions'
  | 'shares'
  | 'statements'
  | 'tanks'
  | 'users'
  | 'webhooks'

type Stored<Name extends Table> = Selectable<Schema[Name]> & { readonly id: string }

/** Columns with their values; null = the column is null; SQL = what follows the column: `> now()`. */
type Where<Name extends Table> = OrSql<Partial<Selectable<Schema[Name]>>>

type OrSql<Row> = { readonly [Column in keyof Row]: Row[Column] | RawBuilder<unknown> }

/**
 * A resource of the administration. Each change of a row is made with its entry in the audit log, whose `before` and
 * `after` are the row as it is shown.
 */
export type Resource<Name extends Table, Shown extends z.ZodObject> = {
  /** Begins the actions in the audit log: `key.create`. */
  readonly name: string
  readonly table: Name
  /** What answers and the audit log show of a row; no secret. A member is the column of that name. */
  readonly shown: Shown
  /** Members whose column has another name, or that follow from a row. */
  readonly columns?: Readonly<
    Record<string, (keyof Stored<Name> & string) | ((row: Stored<Name>) => unknown)>
  >
  /** Of its lists; absent = the oldest first. */
  readonly order?: RawBuilder<unknown>
  readonly limit?: {
    readonly of: 'account' | 'app'
    /** The most rows of an owner. */
    readonly most: number
    readonly noun: string
    /** A condition on the rows that count; absent = all do. */
    readonly counted?: RawBuilder<unknown>
  }
}

export function resource<const Name extends Table, Shown extends z.ZodObject>(
  terms: Resource<Name, Shown>,
): Resource<Name, Shown> {
  return terms
}

/** A row as answers and the audit log show it. */
export function showRow<Name extends Table, Shown extends z.ZodObject>(
  { shown, columns }: Resource<Name, Shown>,
  row: Stored<Name>,
): Row<Shown> {
  const members = Object.keys(shown.shape).map((member) => {
    const column = columns?.[member] ?? snakeCased(member)
    return [member, typeof column === 'function' ? column(row) : row[column as keyof Stored<Name>]]
  })
  return Object.fromEntries(members) as Row<Shown>
}

/** undefined = there is no such row. */
export async function findRow<Name extends Table>(
  db: Database,
  { table }: { readonly table: Name },
  where: Where<Name>,
  lock = sql``,
): Promise<Stored<Name> | undefined> {
  return (await selectRows(db, table, where, lock))[0]
}

/** A row as it is shown; undefined = there is no such row. */
export async function findShown<Name extends Table, Shown extends z.ZodObject>(
  db: Database,
  kind: Resource<Name, Shown>,
  where: Where<Name>,
  lock?: RawBuilder<unknown>,
): Promise<Row<Shown> | undefined> {
  const row = await findRow(db, kind, where, lock)
  return row && showRow(kind, row)
}

/** Rows as they are shown, in the order of the kind. */
export async function listRows<Name extends Table, Shown extends z.ZodObject>(
  db: Database,
  kind: Resource<Name, Shown>,
  where: Where<Name>,
): Promise<Row<Shown>[]> {
  return (await findRows(db, kind, where)).map((row) => showRow(kind, row))
}

/** Rows in the order of the kind. */
export function findRows<Name extends Table>(
  db: Database,
  { table, order = sql`created_at, id` }: Pick<Resource<Name, z.ZodObject>, 'table' | 'order'>,
  where: Where<Name>,
): Promise<Stored<Name>[]> {
  return selectRows(db, table, where, sql`order by ${order}`)
}

async function selectRows<Name extends Table>(
  db: Database,
  table: Name,
  where: Where<Name>,
  tail: RawBuilder<unknown>,
): Promise<Stored<Name>[]> {
  const conditions = [sql`true`]
  for (const [column, value] of Object.entries(where)) {
    // PostgreSQL refuses to compare an id with anything but a UUID; that of a chain is a number.
    if (typeof value === 'string' && /^(.+_)?id$/.test(column) && !isUuid(value)) return []
    const condition = value === null ? sql`is null` : isExpression(value) ? value : sql`= ${value}`
    conditions.push(sql`${sql.ref(column)} ${condition}`)
  }
  const { rows } = await sql<Stored<Name>>`select * from ${sql.table(table)}
    where ${sql.join(conditions, sql` and `)} ${tail}`.execute(db)
  return rows
}

/**
 * Stores a row. The owner is locked until the transaction ends, so that rows that are made at the same time count.
 * undefined = there is no such live owner; a kind without limit has none, nor has a row whose owner is null. Throws TenantLimitError.
 */
export async function insertRow<Name extends Table, Shown extends z.ZodObject>(
  { trx, record }: AuditChange,
  kind: Resource<Name, Shown>,
  values: OrSql<Insertable<Schema[Name]>>,
  action = 'create',
): Promise<Row<Shown> | undefined> {
  const { limit } = kind
  const column = `${limit?.of}_id`
  const owner = (values as Readonly<Record<string, unknown>>)[column]
  if (limit !== undefined && owner !== null) {
    if (!(await lockOwner(trx, limit.of, String(owner)))) return undefined
    const { rows } = await sql<{ count: number }>`select count(*)::integer as count
      from ${sql.table(kind.table)}
      where ${sql.ref(column)} = ${owner} and ${limit.counted ?? sql`true`}`.execute(trx)
    if (rows[0] !== undefined && rows[0].count >= limit.most)
      throw new TenantLimitError(limit.of, limit.most, limit.noun)
  }
  const columns = Object.keys(values).map((column) => sql.ref(column))
  const { rows } = await sql<Stored<Name>>`insert into ${sql.table(kind.table)}
    (${sql.join(columns)}) values (${sql.join(Object.values(values))}) returning *`.execute(trx)
  const [row] = rows
  if (row === undefined) throw new Error('an insertion without a row')
  const after = showRow(kind, row)
  await record({ ...entryOf(kind, action, row), after })
  return after
}

/**
 * Runs a change of a row that nobody else changes meanwhile, and records it with what `run` gives. @returns what `run`
 * gives; undefined = there is no such row
 */
export async function changeRow<Name extends Table, After>(
  { trx, record }: AuditChange,
  kind: Pick<Resource<Name, z.ZodObject>, 'name' | 'table'>,
  where: Where<Name>,
  action: string,
  run: (row: Stored<Name>) => Promise<{
    readonly after: After
    readonly entry?: { readonly before?: unknown; readonly after?: unknown }
  }>,
): Promise<After | undefined> {
  const [row] = await selectRows(trx, kind.table, where, sql`for no key update`)
  if (row === undefined) return undefined
  const { after, entry } = await run(row)
  await record({ ...entryOf(kind, action, row), ...entry })
  return after
}

/** Changes the columns that are there; undefined = there is no such row. */
export function updateRow<Name extends Table, Shown extends z.ZodObject>(
  change: AuditChange,
  kind: Resource<Name, Shown>,
  where: Where<Name>,
  columns: Updateable<Schema[Name]> | ((before: Stored<Name>) => Updateable<Schema[Name]>),
): Promise<Row<Shown> | undefined> {
  return changeRow(change, kind, where, 'update', async (row) => {
    const values = {
      ...(typeof columns === 'function' ? columns(row) : columns),
      ...('updated_at' in row && { updated_at: sql`now()` }),
    }
    const assignments = Object.entries(values)
      .filter(([, value]) => value !== undefined)
      .map(([column, value]) => sql`${sql.ref(column)} = ${value}`)
    const { rows } = await sql<Stored<Name>>`update ${sql.table(kind.table)}
      set ${sql.join([sql`created_at = created_at`, ...assignments])} where id = ${row.id} returning *`.execute(
      change.trx,
    )
    const after = showRow(kind, rows[0] ?? row)
    return { after, entry: { before: showRow(kind, row), after } }
  })
}

/** Ends a live row, which stays as a record. @returns false when there is none */
export async function revokeRow<Name extends 'accounts' | 'apps' | 'auth_tokens' | 'keys'>(
  change: AuditChange,
  kind: Resource<Name, z.ZodObject>,
  where: Where<Name>,
): Promise<boolean> {
  const live = { ...where, revoked_at: null }
  const ended = await changeRow(change, kind, live, 'revoke', async (row) => {
    await sql`update ${sql.table(kind.table)} set revoked_at = now()
      where id = ${row.id}`.execute(change.trx)
    return { after: true, entry: { before: showRow(kind, row) } }
  })
  return ended === true
}

/** @returns false when there is no such row */
export async function deleteRow<Name extends Table>(
  change: AuditChange,
  kind: Resource<Name, z.ZodObject>,
  where: Where<Name>,
): Promise<boolean> {
  const deleted = await changeRow(change, kind, where, 'delete', async (row) => {
    await sql`delete from ${sql.table(kind.table)} where id = ${row.id}`.execute(change.trx)
    return { after: true, entry: { before: showRow(kind, row) } }
  })
  return deleted === true
}

/** The entry of a change in the log, which finds the account of an app itself. */
function entryOf<Name extends Table>(
  { name, table }: Pick<Resource<Name, z.ZodObject>, 'name' | 'table'>,
  action: string,
  row: Stored<Name>,
) {
  const {
    id,
    app_id = null,
    account_id,
  } = row as {
    readonly id: string
    readonly app_id?: string | null
    readonly account_id?: string | null
  }
  return {
    action: `${name}.${action}`,
    objectId: id,
    appId: table === 'apps' ? id : app_id,
    accountId: table === 'accounts' ? id : account_id,
  }
}

/**
 * Keeps others from adding to a live account or app until the transaction ends.
 * @returns whether there is such a one
 */
export async function lockOwner(
  trx: Database,
  kind: 'account' | 'app',
  id: string,
): Promise<boolean> {
  if (!isUuid(id)) return false
  const { rows } =
    kind === 'account'
      ? await sql`select id from accounts where id = ${id} and revoked_at is null
          for no key update`.execute(trx)
      : await sql`select apps.id from apps join accounts a on a.id = account_id
          where apps.id = ${id} and apps.revoked_at is null and a.revoked_at is null
          for no key update of apps`.execute(trx)
  return rows.length === 1
}
