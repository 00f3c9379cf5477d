import type { Actor } from '../store/tenants/audit.js'
import { hashCredential } from '../tenancy/credential.js'

/** The origin of a request. */
export type Caller = {
  readonly ip: string
  /** The header Origin. */
  readonly origin: string | undefined
  /** Ours, also in the answer's header x-request-id. */
  readonly requestId: string
}

/** The caller with this token, as the audit log names it: by the start of the token's hash. */
export function actorOf(
  kind: 'operator' | 'account',
  token: string,
  { ip, requestId }: Caller,
): Actor {
  return { kind, id: hashCredential(token).toString('hex').slice(0, 12), ip, requestId }
}
