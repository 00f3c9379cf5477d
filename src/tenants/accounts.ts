import { sql } from 'kysely'
import type { Database } from '../db/database.js'
import { isUuid } from '../db/uuid.js'
import type { AuditChange } from './audit.js'
import { generateAuthToken, hashCredential } from './credential.js'

type Account = {
  readonly id: string
  readonly name: string
  readonly createdAt: Date
  readonly revokedAt: Date | null
}

const columns = ['id', 'name', 'created_at as createdAt', 'revoked_at as revokedAt'] as const

/** Stores an account with its first token. */
export async function insertAccount(db: Database, name: string, token: Buffer): Promise<Account> {
  const { rows } = await sql<Account>`with account as (
      insert into accounts (name) values (${name}) returning *
    ), token as (
      insert into auth_tokens (account_id, name, hash, role, is_first)
      select id, ${FIRST_TOKEN}, ${token}, 'admin', true from account
    )
    select id, name, created_at as "createdAt", revoked_at as "revokedAt" from account`.execute(db)
  const [account] = rows
  if (account === undefined) throw new Error('an insertion without a row')
  return account
}

const FIRST_TOKEN = 'authToken'

/**
 * Keeps others from adding to a live account, or changing who may, until the transaction ends.
 * @returns whether there is such an account
 */
export async function lockLiveAccount(db: Database, accountId: string): Promise<boolean> {
  if (!isUuid(accountId)) return false
  const account = await db
    .selectFrom('accounts')
    .select('id')
    .where('id', '=', accountId)
    .where('revoked_at', 'is', null)
    .forNoKeyUpdate()
    .executeTakeFirst()
  return account !== undefined
}

export function listAccounts(db: Database): Promise<Account[]> {
  return db.selectFrom('accounts').select(columns).orderBy('created_at').execute()
}

/** An account, also a revoked one. */
export async function findAccount(db: Database, id: string): Promise<Account | undefined> {
  return isUuid(id)
    ? db.selectFrom('accounts').select(columns).where('id', '=', id).executeTakeFirst()
    : undefined
}

/** A new first token in place of the old one. @returns false when there is no such live account */
async function replaceToken(db: Database, id: string, hash: Buffer): Promise<boolean> {
  if (!(await lockLiveAccount(db, id))) return false
  await db
    .updateTable('auth_tokens')
    .set({ revoked_at: new Date() })
    .where('account_id', '=', id)
    .where('is_first', '=', true)
    .where('revoked_at', 'is', null)
    .execute()
  await db
    .insertInto('auth_tokens')
    .values({
      account_id: id,
      name: FIRST_TOKEN,
      hash,
      role: 'admin',
      is_first: true,
    })
    .execute()
  return true
}

/** Ends a live row. @returns false when there is none with this id */
export async function revokeRow(
  db: Database,
  table: 'accounts' | 'apps' | 'keys',
  id: string,
): Promise<boolean> {
  if (!isUuid(id)) return false
  const { numAffectedRows } = await sql`update ${sql.table(table)} set revoked_at = ${new Date()}
    where id = ${id} and revoked_at is null`.execute(db)
  return numAffectedRows === 1n
}

/** A new token of an account. It is stored nowhere: an account that loses it needs a new one. */
type NewToken = { readonly account: Account; readonly authToken: string }

/** Creates an account with its first token. */
export async function createAccount({ trx, record }: AuditChange, name: string): Promise<NewToken> {
  const authToken = generateAuthToken()
  const account = await insertAccount(trx, name, hashCredential(authToken))
  const entry = { objectId: account.id, accountId: account.id, appId: null }
  await record({ action: 'account.create', ...entry, after: account })
  return { account, authToken }
}

/** A new token; the old one ends. undefined = there is no such live account. */
export async function rotateToken(
  { trx, record }: AuditChange,
  id: string,
): Promise<NewToken | undefined> {
  const authToken = generateAuthToken()
  if (!(await replaceToken(trx, id, hashCredential(authToken)))) return undefined
  const account = await findAccount(trx, id)
  if (account === undefined) return undefined
  await record({ action: 'account.rotate_token', objectId: id, accountId: id, appId: null })
  return { account, authToken }
}

/** Ends an account with its apps and keys. @returns false when there is no such live account */
export async function endAccount({ trx, record }: AuditChange, id: string): Promise<boolean> {
  const before = await findAccount(trx, id)
  if (before === undefined || !(await revokeRow(trx, 'accounts', id))) return false
  await record({ action: 'account.revoke', objectId: id, accountId: id, appId: null, before })
  return true
}
