import { z } from 'zod'
import { checkPassword } from '../../../../access/checkPassword.js'
import { acceptInvitation } from '../../../../access/invitations.js'
import { changePassword } from '../../../../access/manageUsers.js'
import { requireGoodPassword } from '../../../../access/requireGoodPassword.js'
import { signIn } from '../../../../access/signIn.js'
import { NotFoundError, UnauthorizedError } from '../../../../errors/restErrors.js'
import { listMemberships } from '../../../../store/people/members.js'
import { endSession, listSessions } from '../../../../store/people/sessions.js'
import { findUser } from '../../../../store/people/users.js'
import { type AuditChange, audited } from '../../../../store/tenants/audit.js'
import {
  done,
  email,
  id,
  listOf,
  name,
  password,
  role,
  session,
  user as userSchema,
} from '../../../adminSchemas.js'
import { type Route, route } from '../../route.js'

const membership = z.object({ accountId: id, accountName: z.string(), role })

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

/** Signing in and out, and what users change about themselves. */
export const sessionRoutes: readonly Route[] = [
  route({
    method: 'POST',
    path: '/session',
    summary: 'Sign in; the answer sets the cookie of the session',
    who: 'anybody',
    status: 201,
    body: z.strictObject({ email, password }),
    answer: z.object({ user: userSchema, session }),
    async run({ context, body, visitor, cookie }) {
      const begun = await signIn(context.access, body, visitor)
      cookie.set(begun.token)
      return begun
    },
  }),
  route({
    method: 'GET',
    path: '/session',
    summary: 'Who is signed in, and the accounts in which that user has a role',
    who: 'user',
    answer: z.object({ user: userSchema, memberships: z.array(membership) }),
    async run({ context: { database }, user: { userId } }) {
      return {
        user: await findUser(database, userId),
        memberships: await listMemberships(database, userId),
      }
    },
  }),
  route({
    method: 'DELETE',
    path: '/session',
    summary: 'Sign out',
    who: 'user',
    answer: done,
    async run({ context, caller, user: { userId, sessionId }, cookie }) {
      await audited(context.database, caller.actor, (change) => end(change, userId, sessionId))
      cookie.clear()
      return { done: true }
    },
  }),
  route({
    method: 'GET',
    path: '/sessions',
    summary: 'The sessions of the user who is signed in, newest first',
    who: 'user',
    answer: listOf(session.extend({ isThis: z.boolean() })),
    async run({ context: { database }, user: { userId, sessionId } }) {
      const items = await listSessions(database, userId)
      return { items: items.map((each) => ({ ...each, isThis: each.id === sessionId })) }
    },
  }),
  route({
    method: 'DELETE',
    path: '/sessions/{sessionId}',
    summary: 'End a session of the user who is signed in, at once',
    who: 'user',
    params: z.object({ sessionId: id }),
    answer: done,
    async run({ context, caller, user: { userId }, params: { sessionId } }) {
      const ended = await audited(context.database, caller.actor, (change) =>
        end(change, userId, sessionId),
      )
      if (!ended) throw new NotFoundError('Session')
      return { done: true }
    },
  }),
  route({
    method: 'POST',
    path: '/password',
    summary: 'Another password; all other sessions of the user end',
    who: 'user',
    body: z.strictObject({ current: password, password }),
    answer: done,
    async run({ context, caller, user: { userId, sessionId, email: address }, body, visitor }) {
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
  }),
  route({
    method: 'POST',
    path: '/invitations/accept',
    summary:
      'Accept an invitation, once: choose a password, or name the one of the user who was invited',
    who: 'anybody',
    body: z.strictObject({ token: z.string().max(200), password, name: name.optional() }),
    answer: userSchema,
    run: ({ context, body: { token, password: secret, name: newName }, visitor }) =>
      acceptInvitation(context.access, { token, password: secret, name: newName }, visitor),
  }),
]
