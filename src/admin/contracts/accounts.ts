import { z } from 'zod'
import type { Contracts } from '../contract.js'
import { account, accountWithToken, done, id, listOf, name } from '../schemas.js'

const params = z.object({ accountId: id })

/** Accounts are the operator's business; all else is an account's. */
export const accountContracts = {
  'GET /accounts': {
    summary: 'All accounts, also revoked ones',
    who: 'operator',
    answer: listOf(account),
  },
  'POST /accounts': {
    summary: 'Make an account; its token is shown this once',
    who: 'operator',
    status: 201,
    body: z.strictObject({ name }),
    answer: accountWithToken,
  },
  'GET /accounts/{accountId}': { summary: 'One account', who: 'operator', params, answer: account },
  'POST /accounts/{accountId}/token': {
    summary: 'A new token, shown this once; the old one ends',
    who: 'operator',
    status: 201,
    params,
    answer: accountWithToken,
  },
  'DELETE /accounts/{accountId}': {
    summary: 'End an account with its apps and keys',
    who: 'operator',
    params,
    answer: done,
  },
  'GET /me': { summary: 'Whose token this is', who: 'account', role: 'viewer', answer: account },
} as const satisfies Contracts
