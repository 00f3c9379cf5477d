import { z } from 'zod'
import { offerPassword } from '../../../../access/invitations.js'
import { changeUser, createUser } from '../../../../access/manageUsers.js'
import { NotFoundError } from '../../../../errors/restErrors.js'
import { findUser, listUsers } from '../../../../store/people/users.js'
import { audited } from '../../../../store/tenants/audit.js'
import {
  email,
  id,
  invitationWithToken,
  listOf,
  name,
  user as userSchema,
} from '../../../adminSchemas.js'
import { type Route, route } from '../../route.js'

const params = z.object({ userId: id })

/** All users of the instance are the operator's business; members of an account are the account's. */
export const userRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/users',
    summary: 'All users, also disabled ones',
    who: 'operator',
    answer: listOf(userSchema),
    run: async ({ context }) => ({ items: await listUsers(context.database) }),
  }),
  route({
    method: 'POST',
    path: '/users',
    summary: 'Make a user, who chooses a password by the token, shown this once, within a day',
    who: 'operator',
    status: 201,
    body: z.strictObject({ email, name, isOperator: z.boolean().default(false) }),
    answer: z.object({ user: userSchema, ...invitationWithToken.shape }),
    run: ({ context, caller, body }) =>
      audited(context.database, caller.actor, async (change) => {
        const user = await createUser(change, { ...body, passwordHash: null })
        return { user, ...(await offerPassword(change, user, caller.user?.userId ?? null)) }
      }),
  }),
  route({
    method: 'PATCH',
    path: '/users/{userId}',
    summary: 'Make or unmake an operator, disable a user or end that; the last operator stays one',
    who: 'operator',
    params,
    body: z.strictObject({ isOperator: z.boolean(), isDisabled: z.boolean() }).partial(),
    answer: userSchema,
    async run({ context, caller, params: { userId }, body: { isOperator, isDisabled } }) {
      const changed = await audited(context.database, caller.actor, (change) =>
        changeUser(change, userId, {
          ...(isOperator !== undefined && { isOperator }),
          ...(isDisabled !== undefined && { disabledAt: isDisabled ? new Date() : null }),
        }),
      )
      if (changed === undefined) throw new NotFoundError('User')
      return changed
    },
  }),
  route({
    method: 'POST',
    path: '/users/{userId}/password',
    summary: 'Let a user choose another password by the token, shown this once, within a day',
    who: 'operator',
    status: 201,
    params,
    answer: invitationWithToken,
    run: ({ context, caller, params: { userId } }) =>
      audited(context.database, caller.actor, async (change) => {
        const user = await findUser(change.trx, userId)
        if (user === undefined || user.disabledAt !== null) throw new NotFoundError('User')
        return offerPassword(change, user, caller.user?.userId ?? null)
      }),
  }),
]
