import { createHash } from 'node:crypto'
import { type Insertable, type Selectable, sql } from 'kysely'
import { z } from 'zod'
import { plain } from '../base/bigints.js'
import { RateLimitError } from '../base/errors/limitErrors.js'
import type { Database, Transaction } from '../db/database.js'
import { inTransaction } from '../db/inTransaction.js'
import { allOf, haveValues, isWithin, type Page, type PageQuery, toPage } from '../db/page.js'
import type { Schema } from '../db/schema.generated.js'
import { auditEntry, date, id } from './schemas.js'

/** The author of a change: the operator, an account's first token, a named token, a user, or a command. */
type ActorKind = Schema['audit_log']['actor']

/** The author of a change, and the request by which it was made. */
export type Actor = {
  readonly kind: ActorKind
  /** The id of a named token or user, the start of another token's hash, or the system user of a command. */
  readonly id: string | null
  readonly ip: string | null
  readonly requestId: string | null
}

/** A change of one object. `before` and `after` hold no secret; absent = the object did or does not exist. */
export type AuditEntry = {
  /** `key.create` */
  readonly action: string
  readonly objectId: string
  /** Absent = that of the app. */
  readonly accountId?: string | null | undefined
  readonly appId: string | null
  readonly before?: unknown
  readonly after?: unknown
}

export type StoredAudit = Selectable<Schema['audit_log']>

/** A change under way: its transaction, and the log that commits with it. */
export type AuditChange = {
  readonly trx: Transaction
  record(entry: AuditEntry): Promise<void>
}

/**
 * Runs a change whose audit entries are stored exactly when the change is. Throws RateLimitError for an account that has
 * changed too much within a day.
 */
export function audited<Result>(
  db: Database,
  actor: Actor,
  run: (change: AuditChange) => Promise<Result>,
): Promise<Result> {
  return inTransaction(db, (trx) => run({ trx, record: (entry) => append(trx, actor, entry) }))
}

/** Key of the advisory lock for writers; spells "audit". */
const LOCK = 0x6175646974n

/**
 * Changes that an account may make within a day, and their bytes. The log is for ever, and every row that a tenant
 * makes begins with a change, so this bounds what a tenant can store in all.
 */
const MAX_CHANGES = 1_000
const MAX_CHANGED_BYTES = 16 * 2 ** 20
const DAY = 86_400
/** The authors whose changes count as the account's own. */
const tenantKinds: readonly ActorKind[] = ['account', 'token', 'user']

/** Throws RateLimitError where the account has changed too much within a day. */
async function requireFewChanges(trx: Transaction, accountId: string): Promise<void> {
  const { rows } = await sql<{ changes: bigint; bytes: bigint; age: number }>`
    select count(*) as changes, coalesce(sum(bytes), 0)::bigint as bytes,
      coalesce(extract(epoch from now() - min(at)), 0)::float8 as age
    from (
      select at, coalesce(pg_column_size(before), 0) + coalesce(pg_column_size(after), 0) as bytes
      from audit_log
      where account_id = ${accountId} and actor = any(${tenantKinds}) and at > now() - make_interval(secs => ${DAY})
      order by at desc limit ${MAX_CHANGES}
    ) recent`.execute(trx)
  const { changes = 0n, bytes = 0n, age = 0 } = rows[0] ?? {}
  if (changes < MAX_CHANGES && bytes < MAX_CHANGED_BYTES) return
  throw new RateLimitError('changes', DAY - age)
}

/** One writer at a time, so that each entry's hash covers the one before it. */
async function append(trx: Transaction, actor: Actor, entry: AuditEntry): Promise<void> {
  await sql`select pg_advisory_xact_lock(${LOCK})`.execute(trx)
  const accountId =
    entry.accountId === undefined ? await accountOf(trx, entry.appId) : entry.accountId
  if (tenantKinds.includes(actor.kind) && accountId !== null)
    await requireFewChanges(trx, accountId)
  const last = await trx
    .selectFrom('audit_log')
    .select('hash')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()
  const row = {
    at: new Date(),
    actor: actor.kind,
    actor_id: actor.id,
    ip: actor.ip,
    request_id: actor.requestId,
    action: entry.action,
    object_id: entry.objectId,
    account_id: accountId,
    app_id: entry.appId,
    before: plain(entry.before ?? null),
    after: plain(entry.after ?? null),
  }
  await trx
    .insertInto('audit_log')
    .values({
      ...row,
      before: row.before === null ? null : JSON.stringify(row.before),
      after: row.after === null ? null : JSON.stringify(row.after),
      hash: hashOf(last?.hash, row),
    })
    .execute()
}

/** The account of an app, also of a revoked one. */
async function accountOf(trx: Transaction, appId: string | null): Promise<string | null> {
  if (appId === null) return null
  const app = trx.selectFrom('apps').select('account_id').where('id', '=', appId)
  return (await app.executeTakeFirst())?.account_id ?? null
}

type Hashed = Omit<Insertable<Schema['audit_log']>, 'id' | 'hash'>

function hashOf(previous: Buffer | undefined, row: Hashed): Buffer {
  return createHash('sha256')
    .update(previous ?? '')
    .update(canonical(row))
    .digest()
}

/** The same text before and after a stay in the database, which reorders the members of jsonb. */
function canonical(row: Hashed): string {
  return JSON.stringify([
    row.at.toISOString(),
    row.actor,
    row.actor_id,
    row.ip,
    row.request_id,
    row.action,
    row.object_id,
    row.account_id,
    row.app_id,
    sorted(row.before),
    sorted(row.after),
  ])
}

function sorted(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(sorted)
  if (value === null || typeof value !== 'object') return value
  const members = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))
  return Object.fromEntries(members.map(([name, member]) => [name, sorted(member)]))
}

/** Conditions that an entry must all fulfil. */
export const auditFilter = z.strictObject({
  actor: auditEntry.shape.actor.optional(),
  action: z
    .string()
    .regex(/^[a-z_.]{1,60}$/)
    .optional(),
  objectId: z.string().min(1).max(200).optional(),
  appId: id.optional(),
  from: date.optional(),
  until: date.optional(),
})

/** Entries that a page looks at. */
const MOST_SCANNED = 10_000

/**
 * Entries, the newest first; with an account only those that concern it. A page looks at a bounded number of
 * entries: one with few items, or none, may have a `next`.
 */
export async function listAudit(
  db: Database,
  accountId: string | undefined,
  { limit, before }: PageQuery,
  filter: z.output<typeof auditFilter> = {},
): Promise<Page<StoredAudit>> {
  const { actor, action, objectId, appId } = filter
  const indexed = allOf([
    ...haveValues('e', { account_id: accountId, object_id: objectId }),
    ...(before === undefined ? [] : [sql`e.id < ${BigInt(before)}`]),
  ])
  const others = allOf([
    ...haveValues('e', { actor, action, app_id: appId }),
    ...isWithin('e.at', filter),
  ])
  const { rows } = await sql<StoredAudit>`select * from (
      select * from audit_log e where ${indexed} order by e.id desc limit ${MOST_SCANNED}
    ) e where ${others} order by e.id desc limit ${limit + 1}`.execute(db)
  const page = toPage(rows, limit, ({ id }) => String(id))
  if (page.next !== undefined) return page
  const edge = await sql<{ id: bigint }>`select e.id from audit_log e where ${indexed}
    order by e.id desc offset ${MOST_SCANNED - 1} limit 1`.execute(db)
  const [last] = edge.rows
  return last === undefined ? page : { ...page, next: String(last.id) }
}

/** The id of the first entry whose hash does not follow from the entries before it; undefined = none. */
export async function findBrokenAudit(db: Database): Promise<bigint | undefined> {
  let previous: Buffer | undefined
  let after = 0n
  for (;;) {
    const rows = await db
      .selectFrom('audit_log')
      .selectAll()
      .where('id', '>', after)
      .orderBy('id')
      .limit(1_000)
      .execute()
    for (const row of rows) {
      if (!hashOf(previous, row).equals(row.hash)) return row.id
      previous = row.hash
      after = row.id
    }
    if (rows.length === 0) return undefined
  }
}
