import type { Selectable } from 'kysely'
import { z } from 'zod'
import { defined } from '../base/defined.js'
import { InvalidParamsError } from '../base/errors/requestErrors.js'
import type { NetworkGuard } from '../base/outbound/networkGuard.js'
import type { Database } from '../db/database.js'
import type { Schema } from '../db/schema.generated.js'
import type { Actor } from '../tenants/audit.js'
import { findRow, findRows, resource } from '../tenants/resource.js'
import { routesOn } from '../tenants/route.js'
import { done, id, listOf, signingSecret } from '../tenants/schemas.js'
import { createReceivers, MAX_PER_APP, requireCallable, type WebhooksContext } from './receivers.js'

/**
 * The deadline of a webhook in milliseconds, for name, connection, answer and retry together: the
 * standard one and its bounds. The column `deadline_ms` has the same default and the same bounds in
 * the schema; a test compares them.
 */
export const webhookDeadline = { standard: 2_000, shortest: 250, longest: 5_000 } as const

const requestType = z.enum(['GET', 'POST'])

/** The HTTP method by which a webhook is called. */
export type RequestType = z.output<typeof requestType>

/** The settings of a webhook that its owner may change. */
const settings = z.strictObject({
  /** `extended` binds the approval to the operation; only by POST. */
  payload: z.enum(['plain', 'extended']),
  /** The meaning of a call without an answer. */
  onFailure: z.enum(['deny', 'approve']),
  deadlineMs: z.int().min(webhookDeadline.shortest).max(webhookDeadline.longest),
})

export type WebhookSettings = z.output<typeof settings>

const webhook = z.object({
  webhookId: id,
  webhookUrl: z.string(),
  requestType,
  active: z.boolean(),
  ...settings.shape,
})

export type Webhook = z.output<typeof webhook>

/** A registered webhook. Both secrets are encrypted. */
export type StoredWebhook = Selectable<Schema['webhooks']>

export const webhooks = resource({
  name: 'webhook',
  table: 'webhooks',
  shown: webhook,
  columns: { webhookId: 'id', webhookUrl: 'url' },
  limit: { of: 'app', most: MAX_PER_APP, noun: 'webhooks' },
})

/** The webhooks of one app; to any other app they do not exist. */
export type Webhooks = ReturnType<typeof createWebhooks>

export function createWebhooks(context: WebhooksContext) {
  const { create, update, ...receivers } = createReceivers(webhooks, context)
  /** Changes settings, or whether it is active. */
  const change = (
    appId: string,
    webhookId: string,
    { active, ...settings }: Partial<WebhookSettings & Pick<Webhook, 'active'>>,
  ): Promise<Webhook | undefined> =>
    update(appId, webhookId, ({ request_type }) => {
      checkPayload(request_type, settings.payload)
      return { ...toColumns(settings), ...(active !== undefined && { active }) }
    })
  return {
    ...receivers,
    /**
     * Registers a webhook, active at once. Throws InvalidParamsError for a URL that would never be
     * called, and TenantLimitError.
     */
    async create(
      appId: string,
      webhook: Pick<Webhook, 'webhookUrl' | 'requestType'> & Partial<WebhookSettings>,
    ): Promise<Webhook> {
      const { webhookUrl, requestType, ...settings } = webhook
      checkUrl(webhookUrl, requestType, context.guard)
      checkPayload(requestType, settings.payload)
      const { receiver } = await create(appId, {
        url: webhookUrl,
        request_type: requestType,
        ...toColumns({ deadlineMs: webhookDeadline.standard, ...settings }),
      })
      return receiver
    },
    change,
    /** Sets whether it is active; false = there is no such webhook. */
    async update(appId: string, webhookId: string, active: boolean): Promise<boolean> {
      return (await change(appId, webhookId, { active })) !== undefined
    },
  }
}

function toColumns({ payload, onFailure, deadlineMs }: Partial<WebhookSettings>) {
  return {
    ...(payload !== undefined && { payload }),
    ...(onFailure !== undefined && { on_failure: onFailure }),
    ...(deadlineMs !== undefined && { deadline_ms: deadlineMs }),
  }
}

function checkPayload(
  requestType: RequestType,
  payload: WebhookSettings['payload'] | undefined,
): void {
  if (payload === 'extended' && requestType === 'GET')
    throw new InvalidParamsError('payload', 'extended needs requestType POST.')
}

function checkUrl(text: string, requestType: RequestType, guard: NetworkGuard): void {
  requireCallable('webhookUrl', text, guard)
  if (requestType === 'GET' && new URL(text).searchParams.has('data')) {
    throw new InvalidParamsError(
      'webhookUrl',
      'must not use the query parameter data, which carries webhookData in a call by GET.',
    )
  }
}

/** The webhooks of an app that are asked, the oldest first. */
export function listActiveWebhooks(db: Database, appId: string): Promise<StoredWebhook[]> {
  return findRows(db, webhooks, { app_id: appId, active: true })
}

/** A webhook of the app; undefined = the app has no such one. */
export function findWebhook(
  db: Database,
  appId: string,
  id: string,
): Promise<StoredWebhook | undefined> {
  return findRow(db, webhooks, { app_id: appId, id })
}

const route = routesOn<{ webhooks(actor: Actor): Webhooks }>()

export const webhookRoutes = [
  route('GET /apps/{appId}/webhooks', {
    command: 'list',
    summary: 'The webhooks that approve sponsorships of an app',
    role: 'viewer',
    answer: listOf(webhook),
    run: ({ context, caller, app }) => context.webhooks(caller.actor).list(app.id),
  }),
  route('POST /apps/{appId}/webhooks', {
    command: 'create',
    summary: 'Register a webhook, active at once; the answer holds its secret',
    role: 'developer',
    status: 201,
    body: settings.partial().extend({
      webhookUrl: z.string().max(2_048),
      requestType,
    }),
    answer: z.object({ webhook, ...signingSecret.shape }),
    async run({ context, caller, app, body }) {
      const webhooks = context.webhooks(caller.actor)
      const made = await webhooks.create(app.id, defined(body))
      const secret = await webhooks.signingSecret(app.id, made.webhookId)
      return secret === undefined ? undefined : { webhook: made, signingSecret: secret }
    },
  }),
  route('GET /apps/{appId}/webhooks/{webhookId}', {
    summary: 'One webhook',
    role: 'viewer',
    answer: webhook,
    run: ({ context, caller, app, params }) =>
      context.webhooks(caller.actor).get(app.id, params.webhookId),
  }),
  route('PATCH /apps/{appId}/webhooks/{webhookId}', {
    command: 'set',
    summary: 'Change or pause a webhook',
    role: 'developer',
    body: settings.extend({ active: z.boolean() }).partial(),
    answer: webhook,
    run: ({ context, caller, app, params, body }) =>
      context.webhooks(caller.actor).change(app.id, params.webhookId, defined(body)),
  }),
  route('POST /apps/{appId}/webhooks/{webhookId}/secret', {
    command: 'rotate',
    summary: 'Rotate the signing secret; the old one also signs for 24 h',
    role: 'developer',
    status: 201,
    answer: signingSecret,
    run: ({ context, caller, app, params }) =>
      context.webhooks(caller.actor).rotateSecret(app.id, params.webhookId),
  }),
  route('DELETE /apps/{appId}/webhooks/{webhookId}', {
    command: 'delete',
    summary: 'Delete a webhook',
    role: 'developer',
    answer: done,
    run: ({ context, caller, app, params }) =>
      context.webhooks(caller.actor).delete(app.id, params.webhookId),
  }),
]
