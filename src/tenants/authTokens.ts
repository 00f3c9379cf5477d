import { sql } from 'kysely'
import { z } from 'zod'
import type { Role } from '../base/vocabulary.js'
import type { Database } from '../db/database.js'
import type { AuditChange } from './audit.js'
import { generateAuthToken, hashCredential } from './credential.js'
import { insertRow, listRows, resource, revokeRow } from './resource.js'
import { route } from './route.js'
import { done, end, id, listOf, name, type Row, role, time } from './schemas.js'

/** A token of an account, without the token itself. */
const authToken = z.object({
  id,
  name: z.string(),
  role,
  /** null = of an account's first one. */
  last4: z.string().nullable(),
  /** The account's `authToken`, which the operator can replace. */
  isFirst: z.boolean(),
  createdAt: time,
  expiresAt: time.nullable(),
  /** To the minute. */
  lastUsedAt: time.nullable(),
})

export const authTokens = resource({
  name: 'token',
  table: 'auth_tokens',
  shown: authToken.extend({ accountId: id }),
  limit: { of: 'account', most: 100, noun: 'tokens', counted: sql`revoked_at is null` },
})

type AuthToken = Row<typeof authTokens.shown>

/** The account that a token stands for, and what it may do there. */
export type TokenOwner = {
  readonly accountId: string
  readonly role: Role
  readonly tokenId: string
  /** The account's `authToken`. */
  readonly isFirst: boolean
}

/** The tokens of an account that were not revoked, the oldest first; absent = of all accounts. */
export function listAuthTokens(db: Database, accountId?: string): Promise<AuthToken[]> {
  const where = { revoked_at: null, ...(accountId !== undefined && { account_id: accountId }) }
  return listRows(db, authTokens, where)
}

/** The live token with this hash, of a live account; its use is noted once a minute. */
export async function findTokenOwner(db: Database, hash: Buffer): Promise<TokenOwner | undefined> {
  const { rows } = await sql<TokenOwner>`
    with used as (
      update auth_tokens set last_used_at = now()
      where hash = ${hash} and (last_used_at is null or last_used_at < now() - interval '1 minute')
    )
    select t.account_id as "accountId", t.role, t.id as "tokenId", t.is_first as "isFirst"
    from auth_tokens t join accounts a on a.id = t.account_id
    where t.hash = ${hash} and t.revoked_at is null and (t.expires_at is null or t.expires_at > now())
      and a.revoked_at is null`.execute(db)
  return rows[0]
}

/** A new token of an account. It is stored nowhere: who loses it needs another one. */
type ShownAuthToken = { readonly token: AuthToken; readonly authToken: string }

/** Makes a further token; undefined = there is no such live account. Throws TenantLimitError. */
export async function createAuthToken(
  change: AuditChange,
  {
    accountId,
    name,
    role,
    expiresAt = null,
  }: Pick<AuthToken, 'accountId' | 'name' | 'role'> & {
    /** null = never. */
    readonly expiresAt?: Date | null | undefined
  },
): Promise<ShownAuthToken | undefined> {
  const authToken = generateAuthToken()
  const token = await insertRow(change, authTokens, {
    account_id: accountId,
    name,
    role,
    expires_at: expiresAt,
    hash: hashCredential(authToken),
    last4: authToken.slice(-4),
  })
  return token && { token, authToken }
}

/** Ends a token, of the account where one is named. @returns false when there is no such token */
export function endAuthToken(change: AuditChange, id: string, account?: string): Promise<boolean> {
  return revokeRow(change, authTokens, {
    id,
    ...(account !== undefined && { account_id: account }),
  })
}

/** Tokens by which scripts act for an account. */
export const authTokenRoutes = [
  route('GET /auth-tokens', {
    summary: 'The tokens of the account that were not revoked; the first is its authToken',
    role: 'admin',
    answer: listOf(authToken),
    run: ({ context, accountId }) => listAuthTokens(context.database, accountId),
  }),
  route('POST /auth-tokens', {
    command: 'create',
    summary: 'Create a token with a role, shown once; without expiresAt it never ends',
    role: 'admin',
    status: 201,
    body: z.strictObject({ name, role, expiresAt: end.nullable().optional() }),
    answer: z.object({ token: authToken, authToken: z.string() }),
    run: ({ change, accountId, body }) =>
      change((audit) => createAuthToken(audit, { ...body, accountId })),
  }),
  route('DELETE /auth-tokens/{tokenId}', {
    command: 'revoke',
    summary: 'End a token within 2 s',
    role: 'admin',
    answer: done,
    run: ({ change, accountId, params }) =>
      change((audit) => endAuthToken(audit, params.tokenId, accountId)),
  }),
]
