import type { z } from 'zod'
import { defined } from '../../../base/defined.js'
import { InvalidFieldError } from '../../../base/errors/restErrors.js'
import {
  createAccount,
  endAccount,
  findAccount,
  listAccounts,
  rotateToken,
} from '../../../tenants/accounts.js'
import { changeApp, createTenantApp, endApp, listApps } from '../../../tenants/apps.js'
import {
  changeKey,
  createKey,
  endKey,
  findKey,
  type KeyRestrictions,
  listKeys,
  rotateKey,
} from '../../../tenants/keys.js'
import { usageOf } from '../../../tenants/usage.js'
import { contracts } from '../../contracts/contracts.js'
import { type Route, serve } from '../route.js'

export const accountRoutes: readonly Route[] = serve(contracts.account)({
  'GET /accounts': ({ context }) => listAccounts(context.database),
  'POST /accounts': ({ change, body }) => change((audit) => createAccount(audit, body.name)),
  'GET /accounts/{accountId}': ({ context, params }) =>
    findAccount(context.database, params.accountId),
  'POST /accounts/{accountId}/token': ({ change, params }) =>
    change((audit) => rotateToken(audit, params.accountId)),
  'DELETE /accounts/{accountId}': ({ change, params }) =>
    change((audit) => endAccount(audit, params.accountId)),
  'GET /me': ({ context, accountId }) => findAccount(context.database, accountId),
})

export const appRoutes: readonly Route[] = serve(contracts.app)({
  'GET /apps': ({ context, accountId }) => listApps(context.database, accountId),
  'POST /apps': ({ change, accountId, body }) =>
    change((audit) => createTenantApp(audit, accountId, body.name)),
  'GET /apps/{appId}': ({ app }) => app,
  'PATCH /apps/{appId}': ({ change, app, body }) =>
    change((audit) => changeApp(audit, app.id, body)),
  'PATCH /apps/{appId}/quotas': ({ change, app, body }) =>
    change((audit) => changeApp(audit, app.id, body)),
  async 'DELETE /apps/{appId}'({ change, app }) {
    await change((audit) => endApp(audit, app.id))
    return true
  },
})

type KeyBody = z.output<(typeof contracts.key)['PATCH /apps/{appId}/keys/{keyId}']['body']>

/** Times of requests are text. What is absent stays absent. */
function toLimits({ expiresAt, ...rest }: KeyBody): Changes {
  return {
    ...defined(rest),
    ...(expiresAt !== undefined && { expiresAt: futureOf(expiresAt) }),
  }
}

type Changes = Partial<KeyRestrictions & { readonly name: string }>

/** The time at which a credential ends; null = never. Throws InvalidFieldError. */
export function futureOf(text: string | null | undefined): Date | null {
  if (text === null || text === undefined) return null
  const date = new Date(text)
  if (date.getTime() <= Date.now())
    throw new InvalidFieldError('expiresAt', 'must be in the future')
  return date
}

export const keyRoutes: readonly Route[] = serve(contracts.key)({
  'GET /apps/{appId}/keys': ({ context, app }) => listKeys(context.database, app.id),
  'POST /apps/{appId}/keys': ({ change, app, body }) => {
    const settings = { ...toLimits(body), name: body.name }
    return change((audit) => createKey(audit, app.id, settings))
  },
  'GET /apps/{appId}/keys/{keyId}': ({ context, app, params }) =>
    findKey(context.database, app.id, params.keyId),
  'PATCH /apps/{appId}/keys/{keyId}': ({ change, app, params, body }) => {
    const limits = toLimits(body)
    return change((audit) => changeKey(audit, app.id, params.keyId, limits))
  },
  async 'GET /apps/{appId}/keys/{keyId}/usage'({ context, app, params: { keyId } }) {
    const key = await findKey(context.database, app.id, keyId)
    return key && usageOf(context.database, keyId)
  },
  'POST /apps/{appId}/keys/{keyId}/rotate': ({ change, app, params, body }) =>
    change((audit) => rotateKey(audit, app.id, params.keyId, body.overlapSeconds)),
  'DELETE /apps/{appId}/keys/{keyId}': ({ change, app, params }) =>
    change((audit) => endKey(audit, app.id, params.keyId)),
})
