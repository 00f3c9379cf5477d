import { z } from 'zod'
import { defined } from '../../../base/defined.js'
import { WebhookNotFoundError } from '../../../errors/restErrors.js'
import {
  appParams,
  done,
  id,
  listOf,
  signingSecret,
  webhook,
  webhookSettings,
} from '../../adminSchemas.js'
import { type Route, route } from '../route.js'

const params = appParams.extend({ webhookId: id })
function missing() {
  return new WebhookNotFoundError()
}

export const webhookRoutes: readonly Route[] = [
  route({
    method: 'GET',
    path: '/apps/{appId}/webhooks',
    summary: 'The webhooks that approve sponsorships of an app',
    who: 'account',
    role: 'viewer',
    params: appParams,
    answer: listOf(webhook),
    run: async ({ context, caller, app }) => ({
      items: await context.webhooks(caller.actor).list(app.id),
    }),
  }),
  route({
    method: 'POST',
    path: '/apps/{appId}/webhooks',
    summary: 'Register a webhook, active at once; its secret is in the answer',
    who: 'account',
    role: 'developer',
    status: 201,
    params: appParams,
    body: webhookSettings.partial().extend({
      webhookUrl: z.string().max(2_048),
      requestType: z.enum(['GET', 'POST']),
    }),
    answer: z.object({ webhook, ...signingSecret.shape }),
    async run({ context, caller, app, body }) {
      const webhooks = context.webhooks(caller.actor)
      const made = await webhooks.create(app.id, defined(body))
      const secret = await webhooks.signingSecret(app.id, made.webhookId)
      if (secret === undefined) throw missing()
      return { webhook: made, signingSecret: secret }
    },
  }),
  route({
    method: 'GET',
    path: '/apps/{appId}/webhooks/{webhookId}',
    summary: 'One webhook',
    who: 'account',
    role: 'viewer',
    params,
    answer: webhook,
    async run({ context, caller, app, params: { webhookId } }) {
      const found = await context.webhooks(caller.actor).get(app.id, webhookId)
      if (found === undefined) throw missing()
      return found
    },
  }),
  route({
    method: 'PATCH',
    path: '/apps/{appId}/webhooks/{webhookId}',
    summary: 'Change how a webhook is asked, or whether',
    who: 'account',
    role: 'developer',
    params,
    body: webhookSettings.extend({ active: z.boolean() }).partial(),
    answer: webhook,
    async run({ context, caller, app, params: { webhookId }, body }) {
      const changed = await context.webhooks(caller.actor).change(app.id, webhookId, defined(body))
      if (changed === undefined) throw missing()
      return changed
    },
  }),
  route({
    method: 'POST',
    path: '/apps/{appId}/webhooks/{webhookId}/secret',
    summary: 'A new signing secret; the old one signs too for 24 h',
    who: 'account',
    role: 'developer',
    status: 201,
    params,
    answer: signingSecret,
    async run({ context, caller, app, params: { webhookId } }) {
      const secret = await context.webhooks(caller.actor).rotateSecret(app.id, webhookId)
      if (secret === undefined) throw missing()
      return { signingSecret: secret }
    },
  }),
  route({
    method: 'DELETE',
    path: '/apps/{appId}/webhooks/{webhookId}',
    summary: 'Delete a webhook',
    who: 'account',
    role: 'developer',
    params,
    answer: done,
    async run({ context, caller, app, params: { webhookId } }) {
      if (!(await context.webhooks(caller.actor).delete(app.id, webhookId))) throw missing()
      return { done: true }
    },
  }),
]
