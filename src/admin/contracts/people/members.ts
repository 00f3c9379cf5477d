import { z } from 'zod'
import type { Contracts } from '../../contract.js'
import {
  done,
  email,
  id,
  invitation,
  invitationWithToken,
  listOf,
  member,
  role,
} from '../../schemas.js'

const params = z.object({ userId: id })

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
    params,
    body: z.strictObject({ role }),
    answer: member,
  },
  'DELETE /members/{userId}': {
    summary: 'Take the role of a member, and the invitations that the member made',
    who: 'account',
    role: 'admin',
    params,
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
