import { z } from 'zod'
import { invite, withdrawInvitation } from '../../../../access/invitations.js'
import { changeRole, removeMember } from '../../../../access/manageMembers.js'
import { NotFoundError } from '../../../../errors/restErrors.js'
import { listInvitations } from '../../../../store/people/invitations.js'
import { listMembers } from '../../../../store/people/members.js'
import { audited } from '../../../../store/tenants/audit.js'
import {
  done,
  email,
  id,
  invitation,
  invitationWithToken,
  listOf,
  member,
  role,
} from '../../../adminSchemas.js'
import { type Route, route } from '../../route.js'

const params = z.object({ userId: id })

/** The users who have a role in an account, and those who were offered one. */
export const memberRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/members',
    summary: 'The users who have a role in the account',
    who: 'account',
    role: 'viewer',
    answer: listOf(member),
    run: async ({ context, accountId }) => ({
      items: await listMembers(context.database, accountId),
    }),
  }),
  route({
    method: 'PATCH',
    path: '/members/{userId}',
    summary: 'Another role; the last admin stays one',
    who: 'account',
    role: 'admin',
    params,
    body: z.strictObject({ role }),
    answer: member,
    async run({ context, caller, accountId, params: { userId }, body }) {
      const changed = await audited(context.database, caller.actor, (change) =>
        changeRole(change, accountId, userId, body.role),
      )
      if (changed === undefined) throw new NotFoundError('Member')
      return changed
    },
  }),
  route({
    method: 'DELETE',
    path: '/members/{userId}',
    summary: 'Take the role of a member, and the invitations that the member made',
    who: 'account',
    role: 'admin',
    params,
    answer: done,
    async run({ context, caller, accountId, params: { userId } }) {
      const removed = await audited(context.database, caller.actor, (change) =>
        removeMember(change, accountId, userId),
      )
      if (!removed) throw new NotFoundError('Member')
      return { done: true }
    },
  }),
  route({
    method: 'GET',
    path: '/invitations',
    summary: 'Open invitations to the account, newest first',
    who: 'account',
    role: 'admin',
    answer: listOf(invitation),
    run: async ({ context, accountId }) => ({
      items: await listInvitations(context.database, accountId),
    }),
  }),
  route({
    method: 'POST',
    path: '/invitations',
    summary: 'Offer a role for seven days; the token is shown this once, to be handed on',
    who: 'account',
    role: 'admin',
    status: 201,
    body: z.strictObject({ email, role }),
    answer: invitationWithToken,
    run: ({ context, caller, accountId, body }) =>
      audited(context.database, caller.actor, (change) =>
        invite(change, { ...body, accountId, invitedBy: caller.user?.userId ?? null }),
      ),
  }),
  route({
    method: 'DELETE',
    path: '/invitations/{invitationId}',
    summary: 'Withdraw an invitation',
    who: 'account',
    role: 'admin',
    params: z.object({ invitationId: id }),
    answer: done,
    async run({ context, caller, accountId, params: { invitationId } }) {
      const withdrawn = await audited(context.database, caller.actor, (change) =>
        withdrawInvitation(change, accountId, invitationId),
      )
      if (!withdrawn) throw new NotFoundError('Invitation')
      return { done: true }
    },
  }),
]
