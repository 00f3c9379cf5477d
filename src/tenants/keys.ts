import { sql } from 'kysely'
import { TenantLimitError } from '../base/errors/limitErrors.js'
import type { Database } from '../db/database.js'
import { isUuid } from '../db/uuid.js'
import { revokeRow } from './accounts.js'
import type { Quotas } from './apps.js'
import { findApp, findAppOwner } from './apps.js'
import type { AuditChange } from './audit.js'
import { generateApiKey, hashCredential } from './credential.js'

export type KeyScope = 'bundler' | 'paymaster'

/** The restrictions of a key; null = no restriction of that kind. */
export type KeyRestrictions = {
  readonly scopes: readonly KeyScope[]
  /** JSON-RPC methods, within the scopes. */
  readonly methods: readonly string[] | null
  /** Values of the header Origin. */
  readonly allowedOrigins: readonly string[] | null
  /** Addresses and CIDR ranges. */
  readonly allowedIps: readonly string[] | null
  readonly expiresAt: Date | null
  readonly quotas: Quotas | null
}

type Key = KeyRestrictions & {
  readonly id: string
  readonly appId: string
  readonly name: string
  readonly last4: string
  /** The key that this one replaces. */
  readonly rotatedFrom: string | null
  readonly createdAt: Date
  readonly revokedAt: Date | null
  /** To the minute; null = never, or before it was written down. */
  readonly lastUsedAt: Date | null
}

/** A key without limits: every method, from anywhere, for ever. */
export const unrestricted: KeyRestrictions = {
  scopes: ['bundler', 'paymaster'],
  methods: null,
  allowedOrigins: null,
  allowedIps: null,
  expiresAt: null,
  quotas: null,
}

const columns = [
  'id',
  'app_id as appId',
  'name',
  'last4',
  'scopes',
  'methods',
  'allowed_origins as allowedOrigins',
  'allowed_ips as allowedIps',
  'expires_at as expiresAt',
  sql<Quotas | null>`keys.quotas`.as('quotas'),
  'rotated_from as rotatedFrom',
  'created_at as createdAt',
  'revoked_at as revokedAt',
  'last_used_at as lastUsedAt',
] as const

type NewKey = {
  readonly appId: string
  readonly name: string
  readonly hash: Buffer
  readonly last4: string
  readonly rotatedFrom?: string
} & Partial<KeyRestrictions>

/**
 * Stores a key. The app's row is locked until the transaction ends, so that `countKeys` sees keys that are
 * made at the same time.
 * @returns undefined when there is no such live app
 */
export async function insertKey(db: Database, key: NewKey): Promise<Key | undefined> {
  const { appId, name, hash, last4, rotatedFrom = null } = key
  if ((await findApp(db, appId)) === undefined) return undefined
  await sql`select from apps where id = ${appId} for no key update`.execute(db)
  return db
    .insertInto('keys')
    .values({
      app_id: appId,
      name,
      hash,
      last4,
      rotated_from: rotatedFrom,
      revoked_at: null,
      ...toColumns({ ...unrestricted, ...key }),
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
}

function toColumns(limits: KeyRestrictions) {
  return {
    scopes: [...limits.scopes],
    methods: limits.methods && [...limits.methods],
    allowed_origins: limits.allowedOrigins && [...limits.allowedOrigins],
    allowed_ips: limits.allowedIps && [...limits.allowedIps],
    expires_at: limits.expiresAt,
    quotas: limits.quotas && JSON.stringify(limits.quotas),
  }
}

/** @param appId whose keys; absent = all there are */
export function listKeys(db: Database, appId?: string): Promise<Key[]> {
  return db
    .selectFrom('keys')
    .select(columns)
    .$if(appId !== undefined, (query) => query.where('app_id', '=', appId ?? ''))
    .orderBy('created_at')
    .execute()
}

/** A key, revoked ones too. @param appId - whose key; undefined = any, for commands that do not know the app */
export async function findKey(
  db: Database,
  appId: string | undefined,
  id: string,
): Promise<Key | undefined> {
  if (!isUuid(id)) return undefined
  return db
    .selectFrom('keys')
    .select(columns)
    .where('id', '=', id)
    .$if(appId !== undefined, (query) => query.where('app_id', '=', appId ?? ''))
    .executeTakeFirst()
}

/** undefined = the app has no such live key. */
async function updateKey(
  db: Database,
  appId: string,
  id: string,
  { name, ...limits }: KeyRestrictions & { readonly name: string },
): Promise<Key | undefined> {
  return isUuid(id)
    ? db
        .updateTable('keys')
        .set({ name, ...toColumns(limits) })
        .where('app_id', '=', appId)
        .where('id', '=', id)
        .where('revoked_at', 'is', null)
        .returning(columns)
        .executeTakeFirst()
    : undefined
}

export type KeyOwner = {
  readonly keyId: string
  readonly appId: string
  readonly accountId: string
  /** Of the app, for all its keys together. */
  readonly appQuotas: Quotas | null
} & KeyRestrictions

/** The owner and restrictions of a key, when key, app and account are all live. */
export function findKeyOwner(db: Database, hash: Buffer): Promise<KeyOwner | undefined> {
  return db
    .selectFrom('keys')
    .innerJoin('apps', 'apps.id', 'keys.app_id')
    .innerJoin('accounts', 'accounts.id', 'apps.account_id')
    .select(['keys.id as keyId', 'apps.id as appId', 'accounts.id as accountId'])
    .select(['keys.scopes', 'keys.methods', 'keys.allowed_origins as allowedOrigins'])
    .select(['keys.allowed_ips as allowedIps', 'keys.expires_at as expiresAt'])
    .select([
      sql<Quotas | null>`keys.quotas`.as('quotas'),
      sql<Quotas | null>`apps.quotas`.as('appQuotas'),
    ])
    .where('keys.hash', '=', hash)
    .where('keys.revoked_at', 'is', null)
    .where((eb) =>
      eb.or([eb('keys.expires_at', 'is', null), eb('keys.expires_at', '>', eb.fn<Date>('now'))]),
    )
    .where('apps.revoked_at', 'is', null)
    .where('accounts.revoked_at', 'is', null)
    .executeTakeFirst()
}

/** Sets the end of a key that a newer one replaces. */
async function endKeyAt(db: Database, appId: string, id: string, expiresAt: Date): Promise<void> {
  await db
    .updateTable('keys')
    .set({ expires_at: expiresAt })
    .where('app_id', '=', appId)
    .where('id', '=', id)
    .execute()
}

/** The number of an app's keys that are valid. */
async function countKeys(db: Database, appId: string): Promise<number> {
  const { rows } = await sql<{ count: bigint }>`select count(*) as count from keys
    where app_id = ${appId} and revoked_at is null
      and (expires_at is null or expires_at > now())`.execute(db)
  return Number(rows[0]?.count)
}

/** Writes the last uses of keys, by id. */
export async function putKeyUses(db: Database, uses: ReadonlyMap<string, Date>): Promise<void> {
  if (uses.size === 0) return
  // In one order, so that two processes do not wait for each other.
  const sorted = [...uses].sort(([a], [b]) => (a < b ? -1 : 1))
  await sql`update keys k set last_used_at = greatest(k.last_used_at, u.at)
    from (select k.id, e.at from keys k join unnest(${sorted.map(([id]) => id)}::uuid[],
        ${sorted.map(([, at]) => at)}::timestamptz[]) as e (id, at) on e.id = k.id
      order by k.id for no key update of k) u
    where k.id = u.id`.execute(db)
}

/** The most valid keys of an app. */
const MAX_KEYS = 100

/** A new API key. It is stored nowhere: an app that loses it needs a new one. */
type ShownKey = { readonly key: Key; readonly apiKey: string }

/** Creates a key; undefined = there is no such live app. Throws TenantLimitError. */
export async function createKey(
  change: AuditChange,
  appId: string,
  settings: Partial<KeyRestrictions> & { readonly name: string },
): Promise<ShownKey | undefined> {
  return insert(change, 'key.create', { appId, ...settings })
}

/**
 * A new key with the name and limits of an old one, which goes on for `overlap` seconds or until
 * its own end. undefined = the app has no such live key.
 */
export async function rotateKey(
  change: AuditChange,
  appId: string,
  id: string,
  overlap: number,
): Promise<ShownKey | undefined> {
  const old = await findKey(change.trx, appId, id)
  if (old === undefined || old.revokedAt !== null) return undefined
  const { name, scopes, methods, allowedOrigins, allowedIps, expiresAt, quotas } = old
  const limits = { scopes, methods, allowedOrigins, allowedIps, expiresAt, quotas }
  const made = await insert(change, 'key.rotate', { appId, name, ...limits, rotatedFrom: id })
  const end = Date.now() + overlap * 1_000
  if (expiresAt === null || expiresAt.getTime() > end) {
    await endKeyAt(change.trx, appId, id, new Date(end))
  }
  return made
}

/** Changes a key's name or restrictions; undefined = the app has no such live key. */
export async function changeKey(
  { trx, record }: AuditChange,
  appId: string,
  id: string,
  changes: Partial<KeyRestrictions & { readonly name: string }>,
): Promise<Key | undefined> {
  const before = await findKey(trx, appId, id)
  const after = before && (await updateKey(trx, appId, id, { ...before, ...changes }))
  if (after === undefined) return undefined
  const accountId = (await findAppOwner(trx, appId))?.accountId ?? null
  await record({ action: 'key.update', objectId: id, accountId, appId, before, after })
  return after
}

/** Ends a key. @returns false when the app has no such live key */
export async function endKey(
  { trx, record }: AuditChange,
  appId: string,
  id: string,
): Promise<boolean> {
  const before = await findKey(trx, appId, id)
  if (before === undefined || !(await revokeRow(trx, 'keys', id))) return false
  const accountId = (await findAppOwner(trx, appId))?.accountId ?? null
  await record({ action: 'key.revoke', objectId: id, accountId, appId, before })
  return true
}

async function insert(
  { trx, record }: AuditChange,
  action: string,
  fields: Omit<NewKey, 'hash' | 'last4'>,
): Promise<ShownKey | undefined> {
  const apiKey = generateApiKey()
  const secret = { hash: hashCredential(apiKey), last4: apiKey.slice(-4) }
  const key = await insertKey(trx, { ...fields, ...secret })
  if (key === undefined) return undefined
  const { appId } = fields
  if ((await countKeys(trx, appId)) > MAX_KEYS) throw new TenantLimitError('app', MAX_KEYS, 'keys')
  const accountId = (await findAppOwner(trx, appId))?.accountId ?? null
  await record({ action, objectId: key.id, accountId, appId, after: key })
  return { key, apiKey }
}
