import { z } from 'zod'
import { InvalidFieldError, NotFoundError } from '../../../../errors/restErrors.js'
import { audited } from '../../../../store/tenants/audit.js'
import { listAuthTokens } from '../../../../store/tenants/authTokens.js'
import { createAuthToken, endAuthToken } from '../../../../tenancy/manageAuthTokens.js'
import { authToken, done, id, listOf, name, role, time } from '../../../adminSchemas.js'
import { type Route, route } from '../../route.js'

function endOf(expiresAt: string | null | undefined): Date | null {
  if (expiresAt === undefined || expiresAt === null) return null
  const end = new Date(expiresAt)
  if (end.getTime() <= Date.now()) throw new InvalidFieldError('expiresAt', 'must be in the future')
  return end
}

/** Tokens by which scripts act for an account. */
export const authTokenRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/auth-tokens',
    summary: 'The tokens of the account that were not revoked; the first is its authToken',
    who: 'account',
    role: 'admin',
    answer: listOf(authToken),
    run: async ({ context, accountId }) => ({
      items: await listAuthTokens(context.database, accountId),
    }),
  }),
  route({
    method: 'POST',
    path: '/auth-tokens',
    summary: 'Make a token with a role, shown this once; without expiresAt it is for ever',
    who: 'account',
    role: 'admin',
    status: 201,
    body: z.strictObject({ name, role, expiresAt: time.nullable().optional() }),
    answer: z.object({ token: authToken, authToken: z.string() }),
    async run({ context, caller, accountId, body }) {
      const settings = { ...body, accountId, expiresAt: endOf(body.expiresAt) }
      const made = await audited(context.database, caller.actor, (change) =>
        createAuthToken(change, settings),
      )
      if (made === undefined) throw new NotFoundError('Account')
      return made
    },
  }),
  route({
    method: 'DELETE',
    path: '/auth-tokens/{tokenId}',
    summary: 'End a token within 2 s',
    who: 'account',
    role: 'admin',
    params: z.object({ tokenId: id }),
    answer: done,
    async run({ context, caller, accountId, params: { tokenId } }) {
      const ended = await audited(context.database, caller.actor, (change) =>
        endAuthToken(change, tokenId, accountId),
      )
      if (!ended) throw new NotFoundError('Token')
      return { done: true }
    },
  }),
]
