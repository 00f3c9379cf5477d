import { z } from 'zod'
import { NotFoundError, UnauthorizedError } from '../../../base/errors/restErrors.js'
import type { AuditChange } from '../../../tenants/audit.js'
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
import {
  done,
  email,
  id,
  listOf,
  member,
  name,
  password,
  role,
  session,
  time,
  user as userSchema,
} from '../../../tenants/schemas.js'
import { route } from '../../adminContext.js'

const invitation = z.object({
  id,
  email,
  role: role.nullable(),
  createdAt: time,
  expiresAt: time,
})

/** An invitation with its token, to be passed on: the first to use the token accepts it. */
const invitationWithToken = z.object({ invitation, token: z.string() })

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
      const user = await findUser(database, userId)
      if (user === undefined) throw new NotFoundError('User')
      return { user, memberships: await listMemberships(database, userId) }
    },
  }),
  route('DELETE /session', {
    summary: 'Sign out',
    who: 'user',
    answer: done,
    async run({ change, user: { userId, sessionId }, cookie }) {
      await change((audit) => end(audit, userId, sessionId))
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
      change((audit) => end(audit, userId, params.sessionId)),
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
        throw new UnauthorizedError('The current password is wrong')
      const hash = await access.passwords.hash(body.password, visitor.network)
      await change(async (audit) => {
        const user = await findUser(audit.trx, userId)
        if (user === undefined) throw new NotFoundError('User')
        await changePassword(audit, user, hash, sessionId)
      })
      return true
    },
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

/** All users of the instance are the operator's business; members of an account are the account's. */
export const userRoutes = [
  route('GET /users', {
    command: 'list',
    summary: 'All users, also disabled ones',
    who: 'operator',
    answer: listOf(userSchema),
    run: ({ context }) => listUsers(context.database),
  }),
  route('POST /users', {
    summary: 'Create a user, who chooses a password with the token, shown once, within a day',
    who: 'operator',
    status: 201,
    body: z.strictObject({ email, name, isOperator: z.boolean().default(false) }),
    answer: z.object({ user: userSchema, ...invitationWithToken.shape }),
    run: ({ change, caller, body }) =>
      change(async (audit) => {
        const user = await createUser(audit, { ...body, passwordHash: null })
        return { user, ...(await offerPassword(audit, user, caller.user?.userId ?? null)) }
      }),
  }),
  route('PATCH /users/{userId}', {
    summary: 'Grant or revoke operator, disable or enable a user; the last operator stays one',
    who: 'operator',
    body: z.strictObject({ isOperator: z.boolean(), isDisabled: z.boolean() }).partial(),
    answer: userSchema,
    run: ({ change, params, body: { isOperator, isDisabled } }) =>
      change((audit) =>
        changeUser(audit, params.userId, {
          ...(isOperator !== undefined && { isOperator }),
          ...(isDisabled !== undefined && { disabledAt: isDisabled ? new Date() : null }),
        }),
      ),
  }),
  route('POST /users/{userId}/password', {
    summary: 'Let a user choose another password with the token, shown once, within a day',
    who: 'operator',
    status: 201,
    answer: invitationWithToken,
    run: ({ change, caller, params }) =>
      change(async (audit) => {
        const user = await findUser(audit.trx, params.userId)
        if (user === undefined || user.disabledAt !== null) return undefined
        return offerPassword(audit, user, caller.user?.userId ?? null)
      }),
  }),
]

/** The users who have a role in an account, and those who were offered one. */
export const memberRoutes = [
  route('GET /members', {
    summary: 'The users who have a role in the account',
    role: 'viewer',
    answer: listOf(member),
    run: ({ context, accountId }) => listMembers(context.database, accountId),
  }),
  route('PATCH /members/{userId}', {
    summary: 'Change a role; the last admin stays one',
    role: 'admin',
    body: z.strictObject({ role }),
    answer: member,
    async run({ change, accountId, params, body }) {
      const changed = await change((audit) =>
        changeRole(audit, accountId, params.userId, body.role),
      )
      if (changed === undefined) throw new NotFoundError('Member')
      return changed
    },
  }),
  route('DELETE /members/{userId}', {
    summary: 'Remove a member, and the invitations that the member made',
    role: 'admin',
    answer: done,
    async run({ change, accountId, params }) {
      const removed = await change((audit) => removeMember(audit, accountId, params.userId))
      if (!removed) throw new NotFoundError('Member')
      return true
    },
  }),
  route('GET /invitations', {
    summary: 'Open invitations to the account, newest first',
    role: 'admin',
    answer: listOf(invitation),
    run: ({ context, accountId }) => listInvitations(context.database, accountId),
  }),
  route('POST /invitations', {
    summary: 'Invite to a role for seven days; the token is shown once, to be passed on',
    role: 'admin',
    status: 201,
    body: z.strictObject({ email, role }),
    answer: invitationWithToken,
    run: ({ change, caller, accountId, body }) =>
      change((audit) =>
        invite(audit, { ...body, accountId, invitedBy: caller.user?.userId ?? null }),
      ),
  }),
  route('DELETE /invitations/{invitationId}', {
    summary: 'Withdraw an invitation',
    role: 'admin',
    answer: done,
    run: ({ change, accountId, params }) =>
      change((audit) => withdrawInvitation(audit, accountId, params.invitationId)),
  }),
]
