import { contracts } from '../../../admin/contracts.js'
import { NotFoundError } from '../../../errors/restErrors.js'
import { findAccount, listAccounts } from '../../../store/tenants/accounts.js'
import { audited } from '../../../store/tenants/audit.js'
import { createAccount, endAccount, rotateToken } from '../../../tenancy/manageAccounts.js'
import { type Route, serve } from '../route.js'

function missing() {
  return new NotFoundError('Account')
}

export const accountRoutes: readonly Route[] = serve(contracts.account)({
  'GET /accounts': async ({ context }) => ({ items: await listAccounts(context.database) }),
  'POST /accounts': ({ context, caller, body }) =>
    audited(context.database, caller.actor, (change) => createAccount(change, body.name)),
  async 'GET /accounts/{accountId}'({ context, params: { accountId } }) {
    const found = await findAccount(context.database, accountId)
    if (found === undefined) throw missing()
    return found
  },
  async 'POST /accounts/{accountId}/token'({ context, caller, params: { accountId } }) {
    const made = await audited(context.database, caller.actor, (change) =>
      rotateToken(change, accountId),
    )
    if (made === undefined) throw missing()
    return made
  },
  async 'DELETE /accounts/{accountId}'({ context, caller, params: { accountId } }) {
    const ended = await audited(context.database, caller.actor, (change) =>
      endAccount(change, accountId),
    )
    if (!ended) throw missing()
    return { done: true }
  },
  async 'GET /me'({ context, accountId }) {
    const found = await findAccount(context.database, accountId)
    if (found === undefined) throw missing()
    return found
  },
})
