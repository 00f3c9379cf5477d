import type { OutboundClient, OutboundRequest } from '../base/outbound/guardedRequest.js'
import { readAnswer } from './approval/approvalAnswer.js'
import type { WebhookCall } from './approval.js'
import type { StoredWebhook } from './manage.js'

/** A call, before its meaning for the sponsorship is decided. */
export type AnsweredCall = Omit<WebhookCall, 'passed'>

/** Makes one call within the webhook's deadline, which bounds name resolution and retry too. */
export async function callWebhook(
  client: OutboundClient,
  webhook: StoredWebhook,
  request: OutboundRequest,
  startedAt: Date,
): Promise<AnsweredCall> {
  const begin = performance.now()
  const signal = AbortSignal.timeout(webhook.deadline_ms)
  const { attempts, response } = await client.request(request, signal)
  return {
    webhookId: webhook.id,
    ...readAnswer(response),
    httpStatus: response.status,
    attempts,
    durationMs: performance.now() - begin,
    startedAt,
  }
}
