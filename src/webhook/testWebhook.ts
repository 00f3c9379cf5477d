import { randomUUID } from 'node:crypto'
import { version } from '../base/version.js'
import type { OutboundRequest } from '../outbound/exchange.js'
import type { OutboundClient } from '../outbound/guardedRequest.js'
import type { StoredWebhook } from '../store/tenants/webhooks.js'
import { approvalRequest } from './approval/approvalRequest.js'
import { type AnsweredCall, callWebhook } from './callWebhook.js'
import { signingSecrets } from './signing/secrets.js'

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
    userAgent: `Purser/${version}`,
  })
  return { call: await callWebhook(client, webhook, request, startedAt), request }
}
