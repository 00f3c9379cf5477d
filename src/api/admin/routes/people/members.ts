import { invite, withdrawInvitation } from '../../../../access/invitations.js'
import { changeRole, removeMember } from '../../../../access/manageMembers.js'
import { contracts } from '../../../../admin/contracts.js'
import { NotFoundError } from '../../../../errors/restErrors.js'
import { listInvitations } from '../../../../store/people/invitations.js'
import { listMembers } from '../../../../store/people/members.js'
import { audited } from '../../../../store/tenants/audit.js'
import { type Route, serve } from '../../route.js'

export const memberRoutes: readonly Route[] = serve(contracts.member)({
  'GET /members': async ({ context, accountId }) => ({
    items: await listMembers(context.database, accountId),
  }),
  async 'PATCH /members/{userId}'({ context, caller, accountId, params: { userId }, body }) {
    const changed = await audited(context.database, caller.actor, (change) =>
      changeRole(change, accountId, userId, body.role),
    )
    if (changed === undefined) throw new NotFoundError('Member')
    return changed
  },
  async 'DELETE /members/{userId}'({ context, caller, accountId, params: { userId } }) {
    const removed = await audited(context.database, caller.actor, (change) =>
      removeMember(change, accountId, userId),
    )
    if (!removed) throw new NotFoundError('Member')
    return { done: true }
  },
  'GET /invitations': async ({ context, accountId }) => ({
    items: await listInvitations(context.database, accountId),
  }),
  'POST /invitations': ({ context, caller, accountId, body }) =>
    audited(context.database, caller.actor, (change) =>
      invite(change, { ...body, accountId, invitedBy: caller.user?.userId ?? null }),
    ),
  async 'DELETE /invitations/{invitationId}'({
    context,
    caller,
    accountId,
    params: { invitationId },
  }) {
    const withdrawn = await audited(context.database, caller.actor, (change) =>
      withdrawInvitation(change, accountId, invitationId),
    )
    if (!withdrawn) throw new NotFoundError('Invitation')
    return { done: true }
  },
})
