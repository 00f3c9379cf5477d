import { RateLimitError } from '../errors/limitErrors.js'
import { UnauthorizedError } from '../errors/restErrors.js'
import type { Transaction } from '../store/database.js'
import { countSessionsOfDay, insertSession, type Session } from '../store/people/sessions.js'
import { lockLiveUser, lockUserWithHash, type User } from '../store/people/users.js'
import { audited } from '../store/tenants/audit.js'
import { generateSessionToken, hashCredential } from '../tenancy/credential.js'
import { type AccessContext, checkPassword, type Visitor } from './checkPassword.js'
import type { OfferedLink } from './createSignInLinks.js'
import { normalEmail } from './email.js'

/** The seconds after which a session ends however often it is used. */
export const SESSION_SECONDS = 7 * 86_400
/** Sessions that a user may begin within a day; each is a row, and two in the audit log. */
const SESSIONS_PER_DAY = 100
/** Characters of the header User-Agent that are kept. */
const MAX_AGENT = 200

/** A session that began. Its token is stored nowhere. */
export type BegunSession = {
  readonly token: string
  readonly session: Session
  readonly user: User
}

/**
 * Begins a session. @throws UnauthorizedError that says the same for a wrong password, an unknown and a disabled
 * user; RateLimitError
 */
export async function signIn(
  context: AccessContext,
  credentials: { readonly email: string; readonly password: string },
  visitor: Visitor,
): Promise<BegunSession> {
  // What is no e-mail address is nobody's, and takes as long.
  const email = normalEmail(credentials.email) ?? ''
  const hash = await checkPassword(context, email, credentials.password, visitor)
  if (hash === undefined) throw new UnauthorizedError(WRONG)
  return beginSession(context, (trx) => lockUserWithHash(trx, email, hash), visitor)
}

/** Begins a session of the user whom a link named. @throws UnauthorizedError, RateLimitError */
export function signInByLink(
  context: AccessContext,
  { userId }: OfferedLink,
  visitor: Visitor,
): Promise<BegunSession> {
  return beginSession(context, (trx) => lockLiveUser(trx, userId), visitor)
}

const WRONG = 'The e-mail address or the password is wrong'

/** Begins a session of the user whom `lockUser` finds. @throws UnauthorizedError, RateLimitError */
export function beginSession(
  { database }: AccessContext,
  lockUser: (trx: Transaction) => Promise<User | undefined>,
  { ip, requestId, agent }: Visitor,
): Promise<BegunSession> {
  const token = generateSessionToken()
  return database.transaction().execute(async (trx) => {
    const user = await lockUser(trx)
    if (user === undefined) throw new UnauthorizedError(WRONG)
    if ((await countSessionsOfDay(trx, user.id)) >= SESSIONS_PER_DAY)
      throw new RateLimitError('sessions', 86_400)
    const session = await insertSession(trx, {
      userId: user.id,
      tokenHash: hashCredential(token),
      life: SESSION_SECONDS,
      ip,
      agent: agent?.slice(0, MAX_AGENT) ?? null,
    })
    await audited(trx, { kind: 'user', id: user.id, ip, requestId }, ({ record }) =>
      record({ action: 'session.create', objectId: session.id, accountId: null, appId: null }),
    )
    return { token, session, user }
  })
}
