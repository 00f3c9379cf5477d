import type { z } from 'zod'
import { contracts } from '../../../admin/contracts.js'
import { defined } from '../../../base/defined.js'
import { InvalidFieldError, NotFoundError } from '../../../errors/restErrors.js'
import { audited } from '../../../store/tenants/audit.js'
import { findKey, type KeyRestrictions, listKeys } from '../../../store/tenants/keys.js'
import { changeKey, createKey, endKey, rotateKey } from '../../../tenancy/manageKeys.js'
import { usageOf } from '../../../tenancy/usageOf.js'
import { type Route, serve } from '../route.js'

function missing() {
  return new NotFoundError('Key')
}

type KeyBody = z.output<(typeof contracts.key)['PATCH /apps/{appId}/keys/{keyId}']['body']>

/** Times of requests are text. What is absent stays absent. */
function toLimits({ expiresAt, ...rest }: KeyBody): Changes {
  return {
    ...defined(rest),
    ...(expiresAt !== undefined && { expiresAt: futureOf(expiresAt) }),
  }
}

type Changes = Partial<KeyRestrictions & { readonly name: string }>

function futureOf(text: string | null): Date | null {
  if (text === null) return null
  const date = new Date(text)
  if (date.getTime() <= Date.now())
    throw new InvalidFieldError('expiresAt', 'must be in the future')
  return date
}

export const keyRoutes: readonly Route[] = serve(contracts.key)({
  'GET /apps/{appId}/keys': async ({ context, app }) => ({
    items: await listKeys(context.database, app.id),
  }),
  async 'POST /apps/{appId}/keys'({ context, caller, app, body }) {
    const given = { ...toLimits(body), name: body.name }
    const made = await audited(context.database, caller.actor, (change) =>
      createKey(change, app.id, given),
    )
    if (made === undefined) throw new NotFoundError('App')
    return made
  },
  async 'GET /apps/{appId}/keys/{keyId}'({ context, app, params: { keyId } }) {
    const found = await findKey(context.database, app.id, keyId)
    if (found === undefined) throw missing()
    return found
  },
  async 'PATCH /apps/{appId}/keys/{keyId}'({ context, caller, app, params: { keyId }, body }) {
    const changed = await audited(context.database, caller.actor, (change) =>
      changeKey(change, app.id, keyId, toLimits(body)),
    )
    if (changed === undefined) throw missing()
    return changed
  },
  async 'GET /apps/{appId}/keys/{keyId}/usage'({ context, app, params: { keyId } }) {
    if ((await findKey(context.database, app.id, keyId)) === undefined) throw missing()
    return usageOf(context.database, keyId)
  },
  async 'POST /apps/{appId}/keys/{keyId}/rotate'({
    context,
    caller,
    app,
    params: { keyId },
    body,
  }) {
    const made = await audited(context.database, caller.actor, (change) =>
      rotateKey(change, app.id, keyId, body.overlapSeconds),
    )
    if (made === undefined) throw missing()
    return made
  },
  async 'DELETE /apps/{appId}/keys/{keyId}'({ context, caller, app, params: { keyId } }) {
    const ended = await audited(context.database, caller.actor, (change) =>
      endKey(change, app.id, keyId),
    )
    if (!ended) throw missing()
    return { done: true }
  },
})
