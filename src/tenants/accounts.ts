import { z } from 'zod'
import type { Database } from '../db/database.js'
import type { AuditChange } from './audit.js'
import { generateAuthToken, hashCredential } from './credential.js'
import {
  changeRow,
  findShown,
  insertRow,
  listRows,
  resource,
  revokeRow,
  showRow,
} from './resource.js'
import { route } from './route.js'
import { done, id, listOf, name, type Row, time } from './schemas.js'

const account = z.object({
  id,
  name: z.string(),
  createdAt: time,
  revokedAt: time.nullable(),
})

type Account = Row<typeof account>

export const accounts = resource({ name: 'account', table: 'accounts', shown: account })

const accountWithToken = z.object({ account, authToken: z.string() })

/** A new token of an account. It is stored nowhere: an account that loses it needs a new one. */
type NewToken = { readonly account: Account; readonly authToken: string }

export function listAccounts(db: Database): Promise<Account[]> {
  return listRows(db, accounts, {})
}

/** An account, also a revoked one. */
export function findAccount(db: Database, id: string): Promise<Account | undefined> {
  return findShown(db, accounts, { id })
}

/** Creates an account with its first token. */
export async function createAccount(change: AuditChange, name: string): Promise<NewToken> {
  const account = await insertRow(change, accounts, { name })
  if (account === undefined) throw new Error('an account has no owner')
  return { account, authToken: await insertFirstToken(change, account.id) }
}

/** A new first token; the old one ends. undefined = there is no such live account. */
export function rotateToken(change: AuditChange, id: string): Promise<NewToken | undefined> {
  return changeRow(change, accounts, { id, revoked_at: null }, 'rotate_token', async (row) => {
    await change.trx
      .updateTable('auth_tokens')
      .set({ revoked_at: new Date() })
      .where('account_id', '=', id)
      .where('is_first', '=', true)
      .where('revoked_at', 'is', null)
      .execute()
    const authToken = await insertFirstToken(change, id)
    return { after: { account: showRow(accounts, row), authToken } }
  })
}

async function insertFirstToken({ trx }: AuditChange, account_id: string): Promise<string> {
  const authToken = generateAuthToken()
  const hash = hashCredential(authToken)
  const token = { account_id, name: 'authToken', hash, role: 'admin', is_first: true } as const
  await trx.insertInto('auth_tokens').values(token).execute()
  return authToken
}

/** Accounts are the operator's business; all else is an account's. */
export const accountRoutes = [
  route('GET /accounts', {
    command: 'list',
    summary: 'All accounts, also revoked ones',
    who: 'operator',
    answer: listOf(account),
    run: ({ context }) => listAccounts(context.database),
  }),
  route('POST /accounts', {
    command: 'create',
    summary: 'Create an account; its token is shown once',
    who: 'operator',
    status: 201,
    body: z.strictObject({ name }),
    answer: accountWithToken,
    run: ({ change, body }) => change((audit) => createAccount(audit, body.name)),
  }),
  route('GET /accounts/{accountId}', {
    summary: 'One account',
    who: 'operator',
    answer: account,
    run: ({ context, params }) => findAccount(context.database, params.accountId),
  }),
  route('POST /accounts/{accountId}/token', {
    command: 'token',
    summary: 'Replace the token, shown once; the old one ends',
    who: 'operator',
    status: 201,
    answer: accountWithToken,
    run: ({ change, params }) => change((audit) => rotateToken(audit, params.accountId)),
  }),
  route('DELETE /accounts/{accountId}', {
    command: 'revoke',
    summary: 'Revoke an account with its apps and keys',
    who: 'operator',
    answer: done,
    run: ({ change, params }) =>
      change((audit) => revokeRow(audit, accounts, { id: params.accountId })),
  }),
  route('GET /me', {
    summary: 'Whose token this is',
    role: 'viewer',
    answer: account,
    run: ({ context, accountId }) => findAccount(context.database, accountId),
  }),
]
