import { contracts } from '../../../admin/contracts.js'
import { defined } from '../../../base/defined.js'
import { WebhookNotFoundError } from '../../../errors/restErrors.js'
import { type Route, serve } from '../route.js'

function missing() {
  return new WebhookNotFoundError()
}

export const webhookRoutes: readonly Route[] = serve(contracts.webhook)({
  'GET /apps/{appId}/webhooks': async ({ context, caller, app }) => ({
    items: await context.webhooks(caller.actor).list(app.id),
  }),
  async 'POST /apps/{appId}/webhooks'({ context, caller, app, body }) {
    const webhooks = context.webhooks(caller.actor)
    const made = await webhooks.create(app.id, defined(body))
    const secret = await webhooks.signingSecret(app.id, made.webhookId)
    if (secret === undefined) throw missing()
    return { webhook: made, signingSecret: secret }
  },
  async 'GET /apps/{appId}/webhooks/{webhookId}'({ context, caller, app, params: { webhookId } }) {
    const found = await context.webhooks(caller.actor).get(app.id, webhookId)
    if (found === undefined) throw missing()
    return found
  },
  async 'PATCH /apps/{appId}/webhooks/{webhookId}'({
    context,
    caller,
    app,
    params: { webhookId },
    body,
  }) {
    const changed = await context.webhooks(caller.actor).change(app.id, webhookId, defined(body))
    if (changed === undefined) throw missing()
    return changed
  },
  async 'POST /apps/{appId}/webhooks/{webhookId}/secret'({
    context,
    caller,
    app,
    params: { webhookId },
  }) {
    const secret = await context.webhooks(caller.actor).rotateSecret(app.id, webhookId)
    if (secret === undefined) throw missing()
    return { signingSecret: secret }
  },
  async 'DELETE /apps/{appId}/webhooks/{webhookId}'({
    context,
    caller,
    app,
    params: { webhookId },
  }) {
    if (!(await context.webhooks(caller.actor).delete(app.id, webhookId))) throw missing()
    return { done: true }
  },
})
