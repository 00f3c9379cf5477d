import { checkPassword, type Visitor } from '../../../../access/checkPassword.js'
import { acceptInvitation } from '../../../../access/invitations.js'
import { changePassword } from '../../../../access/manageUsers.js'
import { requireGoodPassword } from '../../../../access/requireGoodPassword.js'
import { signIn, signInByLink } from '../../../../access/signIn.js'
import { contracts } from '../../../../admin/contracts.js'
import { NotFoundError, UnauthorizedError } from '../../../../errors/restErrors.js'
import { listMemberships } from '../../../../store/people/members.js'
import { endSession, listSessions } from '../../../../store/people/sessions.js'
import { findUser } from '../../../../store/people/users.js'
import { type AuditChange, audited } from '../../../../store/tenants/audit.js'
import { type Route, serve } from '../../route.js'

/** Ends one session of the user. @returns false when there is no such live one */
async function end(
  { trx, record }: AuditChange,
  userId: string,
  sessionId: string,
): Promise<boolean> {
  if (!(await endSession(trx, userId, sessionId))) return false
  await record({ action: 'session.end', objectId: sessionId, accountId: null, appId: null })
  return true
}

/** Whether the caller is on the machine of the service, not behind a proxy of it. */
function isOfThisMachine({ ip }: Visitor): boolean {
  return /^(::ffff:)?127\.|^::1$/.test(ip)
}

export const sessionRoutes: readonly Route[] = serve(contracts.session)({
  async 'POST /session'({ context, body, visitor, cookie }) {
    const begun = await signIn(context.access, body, visitor)
    cookie.set(begun.token)
    return begun
  },
  async 'POST /session/link'({ context, body, visitor, cookie }) {
    const link = isOfThisMachine(visitor) ? context.signInLinks.take(body.token) : undefined
    if (link === undefined)
      throw new UnauthorizedError('This link is unknown, was used, or is past its end')
    const begun = await signInByLink(context.access, link, visitor)
    cookie.set(begun.token)
    return { ...begun, credentials: link.credentials }
  },
  async 'GET /session'({ context: { database }, user: { userId } }) {
    const user = await findUser(database, userId)
    if (user === undefined) throw new NotFoundError('User')
    return { user, memberships: await listMemberships(database, userId) }
  },
  async 'DELETE /session'({ context, caller, user: { userId, sessionId }, cookie }) {
    await audited(context.database, caller.actor, (change) => end(change, userId, sessionId))
    cookie.clear()
    return { done: true }
  },
  async 'GET /sessions'({ context: { database }, user: { userId, sessionId } }) {
    const items = await listSessions(database, userId)
    return { items: items.map((each) => ({ ...each, isThis: each.id === sessionId })) }
  },
  async 'DELETE /sessions/{sessionId}'({
    context,
    caller,
    user: { userId },
    params: { sessionId },
  }) {
    const ended = await audited(context.database, caller.actor, (change) =>
      end(change, userId, sessionId),
    )
    if (!ended) throw new NotFoundError('Session')
    return { done: true }
  },
  async 'POST /password'({
    context,
    caller,
    user: { userId, sessionId, email: address },
    body,
    visitor,
  }) {
    const { access, database } = context
    requireGoodPassword(body.password, address)
    if ((await checkPassword(access, address, body.current, visitor)) === undefined)
      throw new UnauthorizedError('The current password is wrong')
    const hash = await access.passwords.hash(body.password, visitor.network)
    await audited(database, caller.actor, async (change) => {
      const user = await findUser(change.trx, userId)
      if (user === undefined) throw new NotFoundError('User')
      await changePassword(change, user, hash, sessionId)
    })
    return { done: true }
  },
  'POST /invitations/accept': ({
    context,
    body: { token, password: secret, name: newName },
    visitor,
  }) => acceptInvitation(context.access, { token, password: secret, name: newName }, visitor),
})
