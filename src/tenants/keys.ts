import { type Insertable, sql } from 'kysely'
import { z } from 'zod'
import { ConflictError } from '../base/errors/restErrors.js'
import type { Database } from '../db/database.js'
import type { Schema } from '../db/schema.generated.js'
import type { AuditChange } from './audit.js'
import { generateApiKey, hashCredential } from './credential.js'
import type { KeyRestrictions } from './keyOwner.js'
import { quotas } from './quotas.js'
import {
  findRows,
  findShown,
  insertRow,
  listRows,
  resource,
  revokeRow,
  updateRow,
} from './resource.js'
import { route } from './route.js'
import { done, end, id, listOf, name, type Row, time } from './schemas.js'
import { keyUsage, usageOf } from './usage.js'

const key = z.object({
  id,
  appId: id,
  name: z.string(),
  last4: z.string(),
  scopes: z.array(z.enum(['bundler', 'paymaster'])),
  methods: z.array(z.string()).nullable(),
  allowedOrigins: z.array(z.string()).nullable(),
  allowedIps: z.array(z.string()).nullable(),
  expiresAt: time.nullable(),
  quotas,
  /** The key that this one replaces. */
  rotatedFrom: id.nullable(),
  createdAt: time,
  revokedAt: time.nullable(),
  /** To the minute. */
  lastUsedAt: time.nullable(),
})

type Key = Row<typeof key>

/** The limit counts keys that are valid. */
export const keys = resource({
  name: 'key',
  table: 'keys',
  shown: key,
  limit: {
    of: 'app',
    most: 100,
    noun: 'keys',
    counted: sql`revoked_at is null and (expires_at is null or expires_at > now())`,
  },
})

const keyWithSecret = z.object({ key, apiKey: z.string() })

/** A new API key. It is stored nowhere: an app that loses it needs a new one. */
type ShownKey = { readonly key: Key; readonly apiKey: string }

/** @param appId whose keys; absent = all there are */
export function listKeys(db: Database, appId?: string): Promise<Key[]> {
  return listRows(db, keys, appId === undefined ? {} : { app_id: appId })
}

/** A key of the app, also a revoked one. */
function findKey(db: Database, app_id: string, id: string): Promise<Key | undefined> {
  return findShown(db, keys, { app_id, id })
}

/** A key of any app, also a revoked one. */
export function findAnyKey(db: Database, id: string): Promise<Key | undefined> {
  return findShown(db, keys, { id })
}

type KeySettings = KeyRestrictions & Pick<Key, 'name'>

/** Members that are absent or undefined stay as they are. */
type KeyChange = { readonly [Name in keyof KeySettings]?: KeySettings[Name] | undefined }

function toColumns(change: KeyChange) {
  const { name, scopes, methods, allowedOrigins, allowedIps, expiresAt, quotas } = change
  return {
    ...(name !== undefined && { name }),
    ...(scopes !== undefined && { scopes: [...scopes] }),
    ...(methods !== undefined && { methods: methods && [...methods] }),
    ...(allowedOrigins !== undefined && { allowed_origins: allowedOrigins && [...allowedOrigins] }),
    ...(allowedIps !== undefined && { allowed_ips: allowedIps && [...allowedIps] }),
    ...(expiresAt !== undefined && { expires_at: expiresAt }),
    ...(quotas !== undefined && { quotas: quotas && JSON.stringify(quotas) }),
  }
}

/** Creates a key; undefined = there is no such live app. Throws TenantLimitError. */
export function createKey(
  change: AuditChange,
  appId: string,
  settings: KeyChange & Pick<Key, 'name'>,
): Promise<ShownKey | undefined> {
  const { name } = settings
  return insertKey(change, { app_id: appId, ...toColumns(settings), name }, 'create')
}

/**
 * A new key with the name and limits of an old one, which goes on for `overlap` seconds or until
 * its own end. undefined = the app has no such live key. Throws ConflictError where the new one would have ended too.
 */
export async function rotateKey(
  change: AuditChange,
  appId: string,
  id: string,
  overlap: number,
): Promise<ShownKey | undefined> {
  const { trx } = change
  const old = await findKey(trx, appId, id)
  if (old === undefined || old.revokedAt !== null) return undefined
  const expiresAt = await ownEnd(trx, old)
  if (expiresAt !== null && expiresAt.getTime() <= Date.now())
    throw new ConflictError(`The key ended at ${expiresAt.toISOString()}: create another one.`)
  const limits = toColumns({ ...old, expiresAt })
  const columns = { app_id: appId, rotated_from: id, ...limits, name: old.name }
  const made = await insertKey(change, columns, 'rotate')
  const end = new Date(Date.now() + overlap * 1_000)
  if (old.expiresAt === null || old.expiresAt > end)
    await trx.updateTable('keys').set({ expires_at: end }).where('id', '=', id).execute()
  return made
}

/** The end that was set for a key: a rotation gives it an earlier one, and its own to the successor. */
async function ownEnd(
  db: Database,
  { id, expiresAt }: Pick<Key, 'id' | 'expiresAt'>,
): Promise<Date | null> {
  const [next] = await findRows(db, keys, { rotated_from: id })
  return next ? ownEnd(db, { id: next.id, expiresAt: next.expires_at }) : expiresAt
}

async function insertKey(
  change: AuditChange,
  columns: Omit<Insertable<Schema['keys']>, 'hash' | 'last4'>,
  action: string,
): Promise<ShownKey | undefined> {
  const apiKey = generateApiKey()
  const secret = { hash: hashCredential(apiKey), last4: apiKey.slice(-4) }
  const key = await insertRow(change, keys, { ...columns, ...secret }, action)
  return key && { key, apiKey }
}

/** Changes a key's name or restrictions; undefined = the app has no such live key. */
export function changeKey(
  change: AuditChange,
  appId: string,
  id: string,
  settings: KeyChange,
): Promise<Key | undefined> {
  return updateRow(change, keys, { app_id: appId, id, revoked_at: null }, toColumns(settings))
}

const range = z
  .string()
  .refine(
    (text) => z.union([z.ipv4(), z.ipv6(), z.cidrv4(), z.cidrv6()]).safeParse(text).success,
    'must be an IP address or a CIDR range',
  )

const origin = z
  .string()
  .max(300)
  .refine(
    (text) => URL.canParse(text) && new URL(text).origin === text,
    'must be an origin such as https://dapp.example',
  )

/** @param methodNames - the JSON-RPC methods to which a key may be limited */
export function keyRoutesOf(methodNames: readonly string[]) {
  const settings = z
    .strictObject({
      scopes: z
        .array(z.enum(['bundler', 'paymaster']))
        .min(1)
        .max(2),
      methods: z.array(z.enum(methodNames)).min(1).max(50).nullable(),
      allowedOrigins: z.array(origin).min(1).max(50).nullable(),
      allowedIps: z.array(range).min(1).max(50).nullable(),
      expiresAt: end.nullable(),
      quotas,
      name,
    })
    .partial()
  return [
    route('GET /apps/{appId}/keys', {
      summary: 'The keys of an app, also revoked ones',
      role: 'viewer',
      answer: listOf(key),
      run: ({ context, app }) => listKeys(context.database, app.id),
    }),
    route('POST /apps/{appId}/keys', {
      command: 'create',
      summary: 'Create a key, shown once; without limits it may call everything from anywhere',
      role: 'developer',
      status: 201,
      body: settings.required({ name: true }),
      answer: keyWithSecret,
      run: ({ change, app, body }) => change((audit) => createKey(audit, app.id, body)),
    }),
    route('GET /apps/{appId}/keys/{keyId}', {
      summary: 'One key',
      role: 'viewer',
      answer: key,
      run: ({ context, app, params }) => findKey(context.database, app.id, params.keyId),
    }),
    route('PATCH /apps/{appId}/keys/{keyId}', {
      command: 'limit',
      summary: 'Change name or limits; null removes a limit',
      role: 'developer',
      body: settings,
      answer: key,
      run: ({ change, app, params, body }) =>
        change((audit) => changeKey(audit, app.id, params.keyId, body)),
    }),
    route('GET /apps/{appId}/keys/{keyId}/usage', {
      command: 'usage',
      summary: 'Requests per day of the last 30 days, newest first; refused: above a limit',
      role: 'viewer',
      answer: keyUsage,
      async run({ context, app, params: { keyId } }) {
        const key = await findKey(context.database, app.id, keyId)
        return key && usageOf(context.database, keyId)
      },
    }),
    route('POST /apps/{appId}/keys/{keyId}/rotate', {
      command: 'rotate',
      summary: 'A new key with the same limits; the old one ends after the overlap',
      role: 'developer',
      status: 201,
      body: z.strictObject({
        overlapSeconds: z
          .int()
          .min(0)
          .max(30 * 86_400)
          .default(86_400),
      }),
      answer: keyWithSecret,
      run: ({ change, app, params, body }) =>
        change((audit) => rotateKey(audit, app.id, params.keyId, body.overlapSeconds)),
    }),
    route('DELETE /apps/{appId}/keys/{keyId}', {
      command: 'revoke',
      summary: 'End a key within 2 s',
      role: 'developer',
      answer: done,
      run: ({ change, app, params: { keyId } }) =>
        change((audit) => revokeRow(audit, keys, { app_id: app.id, id: keyId })),
    }),
  ]
}
