import { contracts } from '../../../../admin/contracts.js'
import { InvalidFieldError, NotFoundError } from '../../../../errors/restErrors.js'
import { audited } from '../../../../store/tenants/audit.js'
import { listAuthTokens } from '../../../../store/tenants/authTokens.js'
import { createAuthToken, endAuthToken } from '../../../../tenancy/manageAuthTokens.js'
import { type Route, serve } from '../../route.js'

function endOf(expiresAt: string | null | undefined): Date | null {
  if (expiresAt === undefined || expiresAt === null) return null
  const end = new Date(expiresAt)
  if (end.getTime() <= Date.now()) throw new InvalidFieldError('expiresAt', 'must be in the future')
  return end
}

export const authTokenRoutes: readonly Route[] = serve(contracts.authToken)({
  'GET /auth-tokens': async ({ context, accountId }) => ({
    items: await listAuthTokens(context.database, accountId),
  }),
  async 'POST /auth-tokens'({ context, caller, accountId, body }) {
    const settings = { ...body, accountId, expiresAt: endOf(body.expiresAt) }
    const made = await audited(context.database, caller.actor, (change) =>
      createAuthToken(change, settings),
    )
    if (made === undefined) throw new NotFoundError('Account')
    return made
  },
  async 'DELETE /auth-tokens/{tokenId}'({ context, caller, accountId, params: { tokenId } }) {
    const ended = await audited(context.database, caller.actor, (change) =>
      endAuthToken(change, tokenId, accountId),
    )
    if (!ended) throw new NotFoundError('Token')
    return { done: true }
  },
})
