import { sql } from 'kysely'
import type { Database } from '../db/database.js'
import type { Quotas } from './quotas.js'

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

/** A key without limits: every method, from anywhere, for ever. */
export const unrestricted: KeyRestrictions = {
  scopes: ['bundler', 'paymaster'],
  methods: null,
  allowedOrigins: null,
  allowedIps: null,
  expiresAt: null,
  quotas: null,
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
