import { z } from 'zod'
import type { Contracts } from '../../contract.js'
import { email, id, invitationWithToken, listOf, name, user as userSchema } from '../../schemas.js'

const params = z.object({ userId: id })

/** All users of the instance are the operator's business; members of an account are the account's. */
export const userContracts = {
  'GET /users': {
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
    params,
    body: z.strictObject({ isOperator: z.boolean(), isDisabled: z.boolean() }).partial(),
    answer: userSchema,
  },
  'POST /users/{userId}/password': {
    summary: 'Let a user choose another password by the token, shown this once, within a day',
    who: 'operator',
    status: 201,
    params,
    answer: invitationWithToken,
  },
} as const satisfies Contracts
