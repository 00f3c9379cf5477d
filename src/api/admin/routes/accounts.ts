import { z } from 'zod'
import { NotFoundError } from '../../../errors/restErrors.js'
import { findAccount, listAccounts } from '../../../store/tenants/accounts.js'
import { audited } from '../../../store/tenants/audit.js'
import { createAccount, endAccount, rotateToken } from '../../../tenancy/manageAccounts.js'
import { account, accountWithToken, done, id, listOf, name } from '../../adminSchemas.js'
import { type Route, route } from '../route.js'

const params = z.object({ accountId: id })
function missing() {
  return new NotFoundError('Account')
}

/** Accounts are the operator's business; all else is an account's. */
export const accountRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/accounts',
    summary: 'All accounts, also revoked ones',
    who: 'operator',
    answer: listOf(account),
    run: async ({ context }) => ({ items: await listAccounts(context.database) }),
  }),
  route({
    method: 'POST',
    path: '/accounts',
    summary: 'Make an account; its token is shown this once',
    who: 'operator',
    status: 201,
    body: z.strictObject({ name }),
    answer: accountWithToken,
    run: ({ context, caller, body }) =>
      audited(context.database, caller.actor, (change) => createAccount(change, body.name)),
  }),
  route({
    method: 'GET',
    path: '/accounts/{accountId}',
    summary: 'One account',
    who: 'operator',
    params,
    answer: account,
    async run({ context, params: { accountId } }) {
      const found = await findAccount(context.database, accountId)
      if (found === undefined) throw missing()
      return found
    },
  }),
  route({
    method: 'POST',
    path: '/accounts/{accountId}/token',
    summary: 'A new token, shown this once; the old one ends',
    who: 'operator',
    status: 201,
    params,
    answer: accountWithToken,
    async run({ context, caller, params: { accountId } }) {
      const made = await audited(context.database, caller.actor, (change) =>
        rotateToken(change, accountId),
      )
      if (made === undefined) throw missing()
      return made
    },
  }),
  route({
    method: 'DELETE',
    path: '/accounts/{accountId}',
    summary: 'End an account with its apps and keys',
    who: 'operator',
    params,
    answer: done,
    async run({ context, caller, params: { accountId } }) {
      const ended = await audited(context.database, caller.actor, (change) =>
        endAccount(change, accountId),
      )
      if (!ended) throw missing()
      return { done: true }
    },
  }),
  route({
    method: 'GET',
    path: '/me',
    summary: 'Whose token this is',
    who: 'account',
    role: 'viewer',
    answer: account,
    run: ({ context, accountId }) => findAccount(context.database, accountId),
  }),
]
