import { sql } from 'kysely'
import type { Database } from '../database.js'
import type { KeyScope, Quotas } from '../schema.js'
import { isUuid } from '../uuid.js'
import { findApp } from './apps.js'

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

export type Key = KeyRestrictions & {
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
  'quotas',
  'rotated_from as rotatedFrom',
  'created_at as createdAt',
  'revoked_at as revokedAt',
  'last_used_at as lastUsedAt',
] as const

export type NewKey = {
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

/** A key of the app, revoked ones too. */
export async function findKey(db: Database, appId: string, id: string): Promise<Key | undefined> {
  return isUuid(id)
    ? db
        .selectFrom('keys')
        .select(columns)
        .where('app_id', '=', appId)
        .where('id', '=', id)
        .executeTakeFirst()
    : undefined
}

/** undefined = the app has no such live key. */
export async function updateKey(
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

/** @returns false when there is no such key, or it is revoked already */
export async function revokeKey(db: Database, id: string): Promise<boolean> {
  if (!isUuid(id)) return false
  const { numUpdatedRows } = await db
    .updateTable('keys')
    .set({ revoked_at: new Date() })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
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
    .select(['keys.quotas', 'apps.quotas as appQuotas'])
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
export async function endKeyAt(
  db: Database,
  appId: string,
  id: string,
  expiresAt: Date,
): Promise<void> {
  await db
    .updateTable('keys')
    .set({ expires_at: expiresAt })
    .where('app_id', '=', appId)
    .where('id', '=', id)
    .execute()
}

/** A key by its id alone, for commands that do not know the app. */
export async function findKeyById(db: Database, id: string): Promise<Key | undefined> {
  return isUuid(id)
    ? db.selectFrom('keys').select(columns).where('id', '=', id).executeTakeFirst()
    : undefined
}

/** The number of an app's keys that are valid. */
export async function countKeys(db: Database, appId: string): Promise<number> {
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
