import {
  type Account,
  findAccount,
  insertAccount,
  replaceToken,
  revokeAccount,
} from '../store/tenants/accounts.js'
import type { AuditChange } from '../store/tenants/audit.js'
import { generateAuthToken, hashCredential } from './credential.js'

/** A new token of an account. It is stored nowhere: an account that loses it needs a new one. */
export type NewToken = { readonly account: Account; readonly authToken: string }

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
  if (before === undefined || !(await revokeAccount(trx, id))) return false
  await record({ action: 'account.revoke', objectId: id, accountId: id, appId: null, before })
  return true
}
