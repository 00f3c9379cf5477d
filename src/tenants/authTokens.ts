import { sql } from 'kysely'
import { TenantLimitError } from '../base/errors/limitErrors.js'
import type { Role } from '../base/vocabulary.js'
import type { Database } from '../db/database.js'
import { isUuid } from '../db/uuid.js'
import { lockLiveAccount } from './accounts.js'
import type { AuditChange } from './audit.js'
import { generateAuthToken, hashCredential } from './credential.js'

/** A token of an account, without the token itself. */
type AuthToken = {
  readonly id: string
  readonly accountId: string
  readonly name: string
  readonly role: Role
  /** Of the token; null = of an account's first one. */
  readonly last4: string | null
  readonly isFirst: boolean
  readonly createdAt: Date
  readonly expiresAt: Date | null
  readonly lastUsedAt: Date | null
  readonly revokedAt: Date | null
}

/** The account that a token stands for, and what it may do there. */
export type TokenOwner = {
  readonly accountId: string
  readonly role: Role
  readonly tokenId: string
  /** The account's `authToken`. */
  readonly isFirst: boolean
}

type NewAuthToken = Pick<AuthToken, 'accountId' | 'name' | 'role' | 'expiresAt'>

const columns = [
  'id',
  'account_id as accountId',
  'name',
  'role',
  'last4',
  'is_first as isFirst',
  'created_at as createdAt',
  'expires_at as expiresAt',
  'last_used_at as lastUsedAt',
  'revoked_at as revokedAt',
] as const

/** The tokens of an account that were not revoked, the oldest first; absent = of all accounts. */
export function listAuthTokens(db: Database, accountId?: string): Promise<AuthToken[]> {
  return db
    .selectFrom('auth_tokens')
    .select(columns)
    .where('revoked_at', 'is', null)
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
    .orderBy('created_at')
    .orderBy('id')
    .execute()
}

/** A token that was not revoked; with an account only one of its own. */
async function findAuthToken(
  db: Database,
  id: string,
  accountId?: string,
): Promise<AuthToken | undefined> {
  if (!isUuid(id)) return undefined
  return db
    .selectFrom('auth_tokens')
    .select(columns)
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .$if(accountId !== undefined, (query) => query.where('account_id', '=', accountId ?? ''))
    .executeTakeFirst()
}

/** Ends a token. @returns false when it had ended */
async function revokeAuthToken(db: Database, id: string): Promise<boolean> {
  const { numUpdatedRows } = await db
    .updateTable('auth_tokens')
    .set({ revoked_at: new Date() })
    .where('id', '=', id)
    .where('revoked_at', 'is', null)
    .executeTakeFirst()
  return numUpdatedRows > 0n
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

/** The most tokens of an account that were not revoked. */
const MAX_TOKENS = 100

/** A new token of an account. It is stored nowhere: who loses it needs another one. */
type ShownAuthToken = { readonly token: AuthToken; readonly authToken: string }

/**
 * Makes a further token; undefined = there is no such live account. The account's row is locked until the
 * transaction ends, so that tokens that are made at the same time count. Throws TenantLimitError.
 */
export async function createAuthToken(
  { trx, record }: AuditChange,
  { accountId, name, role, expiresAt }: NewAuthToken,
): Promise<ShownAuthToken | undefined> {
  if (!(await lockLiveAccount(trx, accountId))) return undefined
  const authToken = generateAuthToken()
  const token = await trx
    .insertInto('auth_tokens')
    .values({
      account_id: accountId,
      name,
      role,
      expires_at: expiresAt,
      hash: hashCredential(authToken),
      last4: authToken.slice(-4),
      last_used_at: null,
      revoked_at: null,
    })
    .returning(columns)
    .executeTakeFirstOrThrow()
  if ((await listAuthTokens(trx, accountId)).length > MAX_TOKENS)
    throw new TenantLimitError('account', MAX_TOKENS, 'tokens')
  const entry = { objectId: token.id, accountId, appId: null }
  await record({ action: 'token.create', ...entry, after: token })
  return { token, authToken }
}

/** Ends a token, of the account where one is named. @returns false when there is no such token */
export async function endAuthToken(
  { trx, record }: AuditChange,
  id: string,
  ofAccount?: string,
): Promise<boolean> {
  const before = await findAuthToken(trx, id, ofAccount)
  if (before === undefined || !(await revokeAuthToken(trx, id))) return false
  const { accountId } = before
  await record({ action: 'token.revoke', objectId: id, accountId, appId: null, before })
  return true
}
