import { randomUUID } from 'node:crypto'
import { RateLimitError } from '../base/errors/limitErrors.js'
import { Lru } from '../base/lru.js'
import type { OutboundClient, OutboundRequest } from '../base/outbound/guardedRequest.js'
import { approvalRequest } from './approval/approvalRequest.js'
import { type AnsweredCall, callWebhook } from './callWebhook.js'
import type { StoredWebhook } from './manage.js'
import { signingSecrets } from './signing/signature.js'

/** The answer to a test, and the request as it was sent. */
export type TestedCall = { readonly call: AnsweredCall; readonly request: OutboundRequest }

/**
 * Calls a webhook once, active or not, with `{"purserTest": true}` as webhookData and without an
 * operation, so that its owner sees the answer that a sponsorship would get. The call decides
 * nothing, is not stored and does not count for the circuit.
 */
export async function testWebhook(
  { masterKey, client }: { readonly masterKey: Buffer; readonly client: OutboundClient },
  webhook: StoredWebhook,
): Promise<TestedCall> {
  const startedAt = new Date()
  const request = approvalRequest({
    url: webhook.url,
    requestType: webhook.request_type,
    secrets: signingSecrets(masterKey, webhook, startedAt),
    decisionId: randomUUID(),
    webhookData: { purserTest: true },
    extension: webhook.payload === 'extended' ? { type: 'sponsorship.test' } : undefined,
    timestamp: Math.floor(startedAt.getTime() / 1000),
  })
  return { call: await callWebhook(client, webhook, request, startedAt), request }
}

/** Milliseconds between two tests of an app: the service must not serve to flood others. */
const PAUSE = 5_000
/** Apps whose last test is remembered. */
const REMEMBERED = 10_000

/**
 * A function that calls webhooks as `testWebhook` does, for an app once in 5 s. It throws RateLimitError
 * for more.
 */
export function createWebhookTests(
  context: Parameters<typeof testWebhook>[0],
): (webhook: StoredWebhook) => Promise<TestedCall> {
  const lastOfApp = new Lru<string, number>(REMEMBERED)
  return async (webhook) => {
    const now = performance.now()
    const last = lastOfApp.get(webhook.app_id) ?? Number.NEGATIVE_INFINITY
    if (now - last < PAUSE) throw new RateLimitError('webhookTest', (last + PAUSE - now) / 1_000)
    lastOfApp.set(webhook.app_id, now)
    return testWebhook(context, webhook)
  }
}
