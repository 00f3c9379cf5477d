import { z } from 'zod'
import {
  InvalidFieldError,
  NotFoundError,
  UnauthorizedError,
} from '../../../base/errors/restErrors.js'
import { acceptInvitation, joinByInvitation } from '../../../tenants/people/acceptInvitation.js'
import { listMemberships, membership } from '../../../tenants/people/members.js'
import { requireGoodPassword } from '../../../tenants/people/passwords.js'
import {
  endSession,
  listSessions,
  session,
  type Visitor,
} from '../../../tenants/people/sessions.js'
import { checkPassword, signIn, signInByLink } from '../../../tenants/people/signIn.js'
import { changePassword, user as userSchema, users } from '../../../tenants/people/users.js'
import { findShown } from '../../../tenants/resource.js'
import { done, email, listOf, name, password } from '../../../tenants/schemas.js'
import { route } from '../../adminContext.js'

/** Whether the caller is on the machine of the service, not behind a proxy of it. */
function isOfThisMachine({ ip }: Visitor): boolean {
  return /^(::ffff:)?127\.|^::1$/.test(ip)
}

/** Signing in and out, and what users change about themselves. */
export const sessionRoutes = [
  route('POST /session', {
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
  route('POST /session/link', {
    summary: 'Sign in by the link that a development start prints, once and on that machine only',
    who: 'anybody',
    status: 201,
    body: z.strictObject({ token: z.string().max(200) }),
    answer: z.object({
      user: userSchema,
      session,
      /** Of the development app; shown to anyone who has the link. */
      credentials: z.object({ apiKey: z.string(), authToken: z.string() }),
    }),
    async run({ context, body, visitor, cookie }) {
      const link = isOfThisMachine(visitor) ? context.signInLinks.take(body.token) : undefined
      if (link === undefined)
        throw new UnauthorizedError('This link is unknown, was used, or is past its end')
      const begun = await signInByLink(context.access, link, visitor)
      cookie.set(begun.token)
      return { ...begun, credentials: link.credentials }
    },
  }),
  route('GET /session', {
    summary: 'Who is signed in, and the accounts in which that user has a role',
    who: 'user',
    answer: z.object({ user: userSchema, memberships: z.array(membership) }),
    async run({ context: { database }, user: { userId } }) {
      const user = await findShown(database, users, { id: userId })
      if (user === undefined) throw new NotFoundError('User')
      return { user, memberships: await listMemberships(database, userId) }
    },
  }),
  route('DELETE /session', {
    summary: 'Sign out',
    who: 'user',
    answer: done,
    async run({ change, user: { userId, sessionId }, cookie }) {
      await change((audit) => endSession(audit, userId, sessionId))
      cookie.clear()
      return true
    },
  }),
  route('GET /sessions', {
    summary: 'The sessions of the user who is signed in, newest first',
    who: 'user',
    answer: listOf(session.extend({ isThis: z.boolean() })),
    async run({ context: { database }, user: { userId, sessionId } }) {
      const items = await listSessions(database, userId)
      return items.map((each) => ({ ...each, isThis: each.id === sessionId }))
    },
  }),
  route('DELETE /sessions/{sessionId}', {
    summary: 'End a session of the user who is signed in, at once',
    who: 'user',
    answer: done,
    run: ({ change, user: { userId }, params }) =>
      change((audit) => endSession(audit, userId, params.sessionId)),
  }),
  route('POST /password', {
    summary: 'Change the password; all other sessions of the user end',
    who: 'user',
    body: z.strictObject({ current: password, password }),
    answer: done,
    async run({ context: { access }, change, user: signedIn, body, visitor }) {
      const { userId, sessionId, email: address } = signedIn
      requireGoodPassword(body.password, address)
      if ((await checkPassword(access, address, body.current, visitor)) === undefined)
        throw new InvalidFieldError('current', 'is not the password of this user')
      const hash = await access.passwords.hash(body.password, visitor.network)
      return change((audit) => changePassword(audit, userId, hash, sessionId))
    },
  }),
  route('POST /session/invitation', {
    summary: 'Accept an invitation to an account as the user who is signed in, once',
    who: 'user',
    body: z.strictObject({ token: z.string().max(200) }),
    answer: done,
    run: ({ change, user: signedIn, body: { token } }) =>
      change((audit) => joinByInvitation(audit, token, signedIn)),
  }),
  route('POST /invitations/accept', {
    summary:
      'Accept an invitation, once: choose a password, or name the one of the user who was invited',
    who: 'anybody',
    body: z.strictObject({ token: z.string().max(200), password, name: name.optional() }),
    answer: userSchema,
    run: ({ context, body: { token, password: secret, name: newName }, visitor }) =>
      acceptInvitation(context.access, { token, password: secret, name: newName }, visitor),
  }),
]
