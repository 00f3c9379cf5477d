import { z } from 'zod'
import { defined } from '../../../base/defined.js'
import { InvalidFieldError, NotFoundError } from '../../../errors/restErrors.js'
import { audited } from '../../../store/tenants/audit.js'
import { findKey, type KeyRestrictions, listKeys } from '../../../store/tenants/keys.js'
import { changeKey, createKey, endKey, rotateKey } from '../../../tenancy/manageKeys.js'
import { usageOf } from '../../../tenancy/usageOf.js'
import { appParams, done, id, key, keyWithSecret, listOf, name } from '../../adminSchemas.js'
import { keyLimits } from '../../keyLimits.js'
import { type Route, route } from '../route.js'

const params = appParams.extend({ keyId: id })
function missing() {
  return new NotFoundError('Key')
}
const usage = z.object({ requests: z.int(), refused: z.int() })

const changes = keyLimits.extend({ name }).partial()

/** Times of requests are text. What is absent stays absent. */
function toLimits({ expiresAt, ...rest }: z.output<typeof changes>): Changes {
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

export const keyRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/apps/{appId}/keys',
    summary: 'The keys of an app, also revoked ones',
    who: 'account',
    role: 'viewer',
    params: appParams,
    answer: listOf(key),
    run: async ({ context, app }) => ({ items: await listKeys(context.database, app.id) }),
  }),
  route({
    method: 'POST',
    path: '/apps/{appId}/keys',
    summary: 'Make a key, shown this once; without limits it may do all from anywhere',
    who: 'account',
    role: 'developer',
    status: 201,
    params: appParams,
    body: changes.required({ name: true }),
    answer: keyWithSecret,
    async run({ context, caller, app, body }) {
      const given = { ...toLimits(body), name: body.name }
      const made = await audited(context.database, caller.actor, (change) =>
        createKey(change, app.id, given),
      )
      if (made === undefined) throw new NotFoundError('App')
      return made
    },
  }),
  route({
    method: 'GET',
    path: '/apps/{appId}/keys/{keyId}',
    summary: 'One key',
    who: 'account',
    role: 'viewer',
    params,
    answer: key,
    async run({ context, app, params: { keyId } }) {
      const found = await findKey(context.database, app.id, keyId)
      if (found === undefined) throw missing()
      return found
    },
  }),
  route({
    method: 'PATCH',
    path: '/apps/{appId}/keys/{keyId}',
    summary: 'Change name or limits; a limit that is null ends',
    who: 'account',
    role: 'developer',
    params,
    body: changes,
    answer: key,
    async run({ context, caller, app, params: { keyId }, body }) {
      const changed = await audited(context.database, caller.actor, (change) =>
        changeKey(change, app.id, keyId, toLimits(body)),
      )
      if (changed === undefined) throw missing()
      return changed
    },
  }),
  route({
    method: 'GET',
    path: '/apps/{appId}/keys/{keyId}/usage',
    summary: 'Its requests of the last 30 days, today first; refused are those above a limit',
    who: 'account',
    role: 'viewer',
    params,
    answer: listOf(usage.extend({ day: z.iso.date() })).extend({ today: usage }),
    async run({ context, app, params: { keyId } }) {
      if ((await findKey(context.database, app.id, keyId)) === undefined) throw missing()
      return usageOf(context.database, keyId)
    },
  }),
  route({
    method: 'POST',
    path: '/apps/{appId}/keys/{keyId}/rotate',
    summary: 'A new key with the same limits; the old one ends after the overlap',
    who: 'account',
    role: 'developer',
    status: 201,
    params,
    body: z.strictObject({
      overlapSeconds: z
        .int()
        .min(0)
        .max(30 * 86_400)
        .default(86_400),
    }),
    answer: keyWithSecret,
    async run({ context, caller, app, params: { keyId }, body }) {
      const made = await audited(context.database, caller.actor, (change) =>
        rotateKey(change, app.id, keyId, body.overlapSeconds),
      )
      if (made === undefined) throw missing()
      return made
    },
  }),
  route({
    method: 'DELETE',
    path: '/apps/{appId}/keys/{keyId}',
    summary: 'End a key within 2 s',
    who: 'account',
    role: 'developer',
    params,
    answer: done,
    async run({ context, caller, app, params: { keyId } }) {
      const ended = await audited(context.database, caller.actor, (change) =>
        endKey(change, app.id, keyId),
      )
      if (!ended) throw missing()
      return { done: true }
    },
  }),
]
