import { TenantLimitError } from '../errors/limitErrors.js'
import { findAppOwner } from '../store/tenants/apps.js'
import type { AuditChange } from '../store/tenants/audit.js'
import {
  countKeys,
  endKeyAt,
  findKey,
  insertKey,
  type Key,
  type KeyRestrictions,
  type NewKey,
  revokeKey,
  updateKey,
} from '../store/tenants/keys.js'
import { generateApiKey, hashCredential } from './credential.js'

/** The most valid keys of an app. */
const MAX_KEYS = 100

/** A new API key. It is stored nowhere: an app that loses it needs a new one. */
export type ShownKey = { readonly key: Key; readonly apiKey: string }

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
  if (before === undefined || !(await revokeKey(trx, id))) return false
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
  if ((await countKeys(trx, appId)) > MAX_KEYS)
    throw new TenantLimitError('app', `${MAX_KEYS} keys`)
  const accountId = (await findAppOwner(trx, appId))?.accountId ?? null
  await record({ action, objectId: key.id, accountId, appId, after: key })
  return { key, apiKey }
}
