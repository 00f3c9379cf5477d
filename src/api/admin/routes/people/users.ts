import { offerPassword } from '../../../../access/invitations.js'
import { changeUser, createUser } from '../../../../access/manageUsers.js'
import { contracts } from '../../../../admin/contracts.js'
import { NotFoundError } from '../../../../errors/restErrors.js'
import { findUser, listUsers } from '../../../../store/people/users.js'
import { audited } from '../../../../store/tenants/audit.js'
import { type Route, serve } from '../../route.js'

export const userRoutes: readonly Route[] = serve(contracts.user)({
  'GET /users': async ({ context }) => ({ items: await listUsers(context.database) }),
  'POST /users': ({ context, caller, body }) =>
    audited(context.database, caller.actor, async (change) => {
      const user = await createUser(change, { ...body, passwordHash: null })
      return { user, ...(await offerPassword(change, user, caller.user?.userId ?? null)) }
    }),
  async 'PATCH /users/{userId}'({
    context,
    caller,
    params: { userId },
    body: { isOperator, isDisabled },
  }) {
    const changed = await audited(context.database, caller.actor, (change) =>
      changeUser(change, userId, {
        ...(isOperator !== undefined && { isOperator }),
        ...(isDisabled !== undefined && { disabledAt: isDisabled ? new Date() : null }),
      }),
    )
    if (changed === undefined) throw new NotFoundError('User')
    return changed
  },
  'POST /users/{userId}/password': ({ context, caller, params: { userId } }) =>
    audited(context.database, caller.actor, async (change) => {
      const user = await findUser(change.trx, userId)
      if (user === undefined || user.disabledAt !== null) throw new NotFoundError('User')
      return offerPassword(change, user, caller.user?.userId ?? null)
    }),
})
