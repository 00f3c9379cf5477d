import { ForbiddenError } from '../base/errors/restErrors.js'
import type { Role } from '../base/vocabulary.js'
import { mayAct } from '../base/vocabulary.js'
import type { Actor } from '../tenants/audit.js'
import type { TokenOwner } from '../tenants/authTokens.js'
import { hashCredential } from '../tenants/credential.js'

/** The origin of a request. */
export type Caller = {
  readonly ip: string
  /** The header Origin. */
  readonly origin: string | undefined
  /** Ours, also in the answer's header x-request-id. */
  readonly requestId: string
}

/** The operator with this token, as the audit log names it: by the start of the token's hash. */
export function operatorActor(token: string, { ip, requestId }: Caller): Actor {
  return { kind: 'operator', id: startOfHash(token), ip, requestId }
}

/** The caller with a token of an account: a named token has its id, the first one the start of its hash. */
export function tokenActor(
  { isFirst, tokenId }: TokenOwner,
  token: string,
  { ip, requestId }: Caller,
): Actor {
  return isFirst
    ? { kind: 'account', id: startOfHash(token), ip, requestId }
    : { kind: 'token', id: tokenId, ip, requestId }
}

function startOfHash(token: string): string {
  return hashCredential(token).toString('hex').slice(0, 12)
}

/** Whether the text can be a key or token at all. Anything else is refused without asking the database. */
export function isKey(text: string): boolean {
  return /^[A-Za-z0-9._-]{1,200}$/.test(text)
}

/** Throws ForbiddenError where the role does not suffice. */
export function requireRole(role: Role, needed: Role): void {
  if (!mayAct(role, needed)) throw new ForbiddenError(`the role ${needed}`)
}
