import { z } from 'zod'
import type { Contracts } from '../../contract.js'
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
} from '../../schemas.js'

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
      /** Of the development app; shown to whoever has the link. */
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
