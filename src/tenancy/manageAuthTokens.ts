import { TenantLimitError } from '../errors/limitErrors.js'
import type { AuditChange } from '../store/tenants/audit.js'
import {
  type AuthToken,
  countAuthTokens,
  findAuthToken,
  insertAuthToken,
  type NewAuthToken,
  revokeAuthToken,
} from '../store/tenants/authTokens.js'
import { generateAuthToken, hashCredential } from './credential.js'

/** The most tokens of an account that were not revoked. */
const MAX_TOKENS = 100

/** A new token of an account. It is stored nowhere: who loses it needs another one. */
export type ShownAuthToken = { readonly token: AuthToken; readonly authToken: string }

/** Makes a further token; undefined = there is no such live account. Throws TenantLimitError. */
export async function createAuthToken(
  { trx, record }: AuditChange,
  settings: Pick<NewAuthToken, 'accountId' | 'name' | 'role' | 'expiresAt'>,
): Promise<ShownAuthToken | undefined> {
  const authToken = generateAuthToken()
  const secret = { hash: hashCredential(authToken), last4: authToken.slice(-4) }
  const token = await insertAuthToken(trx, { ...settings, ...secret })
  if (token === undefined) return undefined
  const { accountId } = token
  if ((await countAuthTokens(trx, accountId)) > MAX_TOKENS)
    throw new TenantLimitError('account', `${MAX_TOKENS} tokens`)
  await record({
    action: 'token.create',
    objectId: token.id,
    accountId,
    appId: null,
    after: token,
  })
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
