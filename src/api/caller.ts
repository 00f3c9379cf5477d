import type { Actor } from '../store/tenants/audit.js'
import type { TokenOwner } from '../store/tenants/authTokens.js'
import { hashCredential } from '../tenancy/credential.js'

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
