import { z } from 'zod'
import type { Contracts } from './contract.js'
import {
  authToken,
  done,
  email,
  id,
  invitation,
  invitationWithToken,
  listOf,
  member,
  name,
  password,
  role,
  session,
  time,
  user as userSchema,
} from './schemas.js'

const membership = z.object({ accountId: id, accountName: z.string(), role })

/** Signing in and out, and what users change about themselves. */
export const sessionContracts = {
  'POST /session': {
    summary: 'Sign in; the answer sets the cookie of the session',
    who: 'anybody',
    status: 201,
    body: z.strictObject({ email, password }),
    answer: z.object({ user: userSchema, session }),
  },
  'POST /session/link': {
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
  },
  'GET /session': {
    summary: 'Who is signed in, and the accounts in which that user has a role',
    who: 'user',
    answer: z.object({ user: userSchema, memberships: z.array(membership) }),
  },
  'DELETE /session': { summary: 'Sign out', who: 'user', answer: done },
  'GET /sessions': {
    summary: 'The sessions of the user who is signed in, newest first',
    who: 'user',
    answer: listOf(session.extend({ isThis: z.boolean() })),
  },
  'DELETE /sessions/{sessionId}': {
    summary: 'End a session of the user who is signed in, at once',
    who: 'user',
    params: z.object({ sessionId: id }),
    answer: done,
  },
  'POST /password': {
    summary: 'Another password; all other sessions of the user end',
    who: 'user',
    body: z.strictObject({ current: password, password }),
    answer: done,
  },
  'POST /invitations/accept': {
    summary:
      'Accept an invitation, once: choose a password, or name the one of the user who was invited',
    who: 'anybody',
    body: z.strictObject({ token: z.string().max(200), password, name: name.optional() }),
    answer: userSchema,
  },
} as const satisfies Contracts

const userParams = z.object({ userId: id })

/** All users of the instance are the operator's business; members of an account are the account's. */
export const userContracts = {
  'GET /users': {
    command: 'list',
    summary: 'All users, also disabled ones',
    who: 'operator',
    answer: listOf(userSchema),
  },
  'POST /users': {
    summary: 'Make a user, who chooses a password by the token, shown this once, within a day',
    who: 'operator',
    status: 201,
    body: z.strictObject({ email, name, isOperator: z.boolean().default(false) }),
    answer: z.object({ user: userSchema, ...invitationWithToken.shape }),
  },
  'PATCH /users/{userId}': {
    summary: 'Make or unmake an operator, disable a user or end that; the last operator stays one',
    who: 'operator',
    params: userParams,
    body: z.strictObject({ isOperator: z.boolean(), isDisabled: z.boolean() }).partial(),
    answer: userSchema,
  },
  'POST /users/{userId}/password': {
    summary: 'Let a user choose another password by the token, shown this once, within a day',
    who: 'operator',
    status: 201,
    params: userParams,
    answer: invitationWithToken,
  },
} as const satisfies Contracts

const memberParams = z.object({ userId: id })

/** The users who have a role in an account, and those who were offered one. */
export const memberContracts = {
  'GET /members': {
    summary: 'The users who have a role in the account',
    who: 'account',
    role: 'viewer',
    answer: listOf(member),
  },
  'PATCH /members/{userId}': {
    summary: 'Another role; the last admin stays one',
    who: 'account',
    role: 'admin',
    params: memberParams,
    body: z.strictObject({ role }),
    answer: member,
  },
  'DELETE /members/{userId}': {
    summary: 'Take the role of a member, and the invitations that the member made',
    who: 'account',
    role: 'admin',
    params: memberParams,
    answer: done,
  },
  'GET /invitations': {
    summary: 'Open invitations to the account, newest first',
    who: 'account',
    role: 'admin',
    answer: listOf(invitation),
  },
  'POST /invitations': {
    summary: 'Offer a role for seven days; the token is shown this once, to be handed on',
    who: 'account',
    role: 'admin',
    status: 201,
    body: z.strictObject({ email, role }),
    answer: invitationWithToken,
  },
  'DELETE /invitations/{invitationId}': {
    summary: 'Withdraw an invitation',
    who: 'account',
    role: 'admin',
    params: z.object({ invitationId: id }),
    answer: done,
  },
} as const satisfies Contracts

/** Tokens by which scripts act for an account. */
export const authTokenContracts = {
  'GET /auth-tokens': {
    summary: 'The tokens of the account that were not revoked; the first is its authToken',
    who: 'account',
    role: 'admin',
    answer: listOf(authToken),
  },
  'POST /auth-tokens': {
    command: 'create',
    summary: 'Make a token with a role, shown this once; without expiresAt it is for ever',
    who: 'account',
    role: 'admin',
    status: 201,
    body: z.strictObject({ name, role, expiresAt: time.nullable().optional() }),
    answer: z.object({ token: authToken, authToken: z.string() }),
  },
  'DELETE /auth-tokens/{tokenId}': {
    command: 'revoke',
    summary: 'End a token within 2 s',
    who: 'account',
    role: 'admin',
    params: z.object({ tokenId: id }),
    answer: done,
  },
} as const satisfies Contracts
