import { NotFoundError, UnauthorizedError } from '../../../base/errors/restErrors.js'
import type { AuditChange } from '../../../tenants/audit.js'
import { createAuthToken, endAuthToken, listAuthTokens } from '../../../tenants/authTokens.js'
import { acceptInvitation } from '../../../tenants/people/acceptInvitation.js'
import {
  invite,
  listInvitations,
  offerPassword,
  withdrawInvitation,
} from '../../../tenants/people/invitations.js'
import {
  changeRole,
  listMembers,
  listMemberships,
  removeMember,
} from '../../../tenants/people/members.js'
import { requireGoodPassword } from '../../../tenants/people/passwords.js'
import { endSession, listSessions } from '../../../tenants/people/sessions.js'
import {
  checkPassword,
  signIn,
  signInByLink,
  type Visitor,
} from '../../../tenants/people/signIn.js'
import {
  changePassword,
  changeUser,
  createUser,
  findUser,
  listUsers,
} from '../../../tenants/people/users.js'
import { contracts } from '../../contracts/contracts.js'
import { type Route, serve } from '../route.js'
import { futureOf } from './tenants.js'

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
  async 'DELETE /session'({ change, user: { userId, sessionId }, cookie }) {
    await change((audit) => end(audit, userId, sessionId))
    cookie.clear()
    return true
  },
  async 'GET /sessions'({ context: { database }, user: { userId, sessionId } }) {
    const items = await listSessions(database, userId)
    return items.map((each) => ({ ...each, isThis: each.id === sessionId }))
  },
  'DELETE /sessions/{sessionId}': ({ change, user: { userId }, params }) =>
    change((audit) => end(audit, userId, params.sessionId)),
  async 'POST /password'({ context: { access }, change, user: signedIn, body, visitor }) {
    const { userId, sessionId, email: address } = signedIn
    requireGoodPassword(body.password, address)
    if ((await checkPassword(access, address, body.current, visitor)) === undefined)
      throw new UnauthorizedError('The current password is wrong')
    const hash = await access.passwords.hash(body.password, visitor.network)
    await change(async (audit) => {
      const user = await findUser(audit.trx, userId)
      if (user === undefined) throw new NotFoundError('User')
      await changePassword(audit, user, hash, sessionId)
    })
    return true
  },
  'POST /invitations/accept': ({
    context,
    body: { token, password: secret, name: newName },
    visitor,
  }) => acceptInvitation(context.access, { token, password: secret, name: newName }, visitor),
})

export const userRoutes: readonly Route[] = serve(contracts.user)({
  'GET /users': ({ context }) => listUsers(context.database),
  'POST /users': ({ change, caller, body }) =>
    change(async (audit) => {
      const user = await createUser(audit, { ...body, passwordHash: null })
      return { user, ...(await offerPassword(audit, user, caller.user?.userId ?? null)) }
    }),
  'PATCH /users/{userId}': ({ change, params, body: { isOperator, isDisabled } }) =>
    change((audit) =>
      changeUser(audit, params.userId, {
        ...(isOperator !== undefined && { isOperator }),
        ...(isDisabled !== undefined && { disabledAt: isDisabled ? new Date() : null }),
      }),
    ),
  'POST /users/{userId}/password': ({ change, caller, params }) =>
    change(async (audit) => {
      const user = await findUser(audit.trx, params.userId)
      if (user === undefined || user.disabledAt !== null) return undefined
      return offerPassword(audit, user, caller.user?.userId ?? null)
    }),
})

export const memberRoutes: readonly Route[] = serve(contracts.member)({
  'GET /members': ({ context, accountId }) => listMembers(context.database, accountId),
  async 'PATCH /members/{userId}'({ change, accountId, params, body }) {
    const changed = await change((audit) => changeRole(audit, accountId, params.userId, body.role))
    if (changed === undefined) throw new NotFoundError('Member')
    return changed
  },
  async 'DELETE /members/{userId}'({ change, accountId, params }) {
    const removed = await change((audit) => removeMember(audit, accountId, params.userId))
    if (!removed) throw new NotFoundError('Member')
    return true
  },
  'GET /invitations': ({ context, accountId }) => listInvitations(context.database, accountId),
  'POST /invitations': ({ change, caller, accountId, body }) =>
    change((audit) =>
      invite(audit, { ...body, accountId, invitedBy: caller.user?.userId ?? null }),
    ),
  'DELETE /invitations/{invitationId}': ({ change, accountId, params }) =>
    change((audit) => withdrawInvitation(audit, accountId, params.invitationId)),
})

export const authTokenRoutes: readonly Route[] = serve(contracts.authToken)({
  'GET /auth-tokens': ({ context, accountId }) => listAuthTokens(context.database, accountId),
  'POST /auth-tokens': ({ change, accountId, body }) => {
    const settings = { ...body, accountId, expiresAt: futureOf(body.expiresAt) }
    return change((audit) => createAuthToken(audit, settings))
  },
  'DELETE /auth-tokens/{tokenId}': ({ change, accountId, params }) =>
    change((audit) => endAuthToken(audit, params.tokenId, accountId)),
})
