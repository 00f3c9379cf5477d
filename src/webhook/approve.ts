import type { Database } from '../store/database.js'
import { listActiveWebhooks, type StoredWebhook } from '../store/webhooks.js'
import { decryptSecret } from '../tenancy/secrets.js'
import { version } from '../version.js'
import type { Approval, WebhookCall } from './approval.js'
import { readAnswer } from './approvalAnswer.js'
import { approvalRequest, type WebhookData } from './approvalRequest.js'
import type { OutboundRequest } from './exchange.js'
import type { OutboundClient } from './guardedRequest.js'
import { secretPurpose } from './signature.js'

export type ApproverContext = {
  readonly database: Database
  readonly masterKey: Buffer
  readonly client: OutboundClient
  /** Milliseconds for all calls of one approval, name resolution and retry included. */
  readonly deadline?: number
}

export type ApprovalQuestion = {
  readonly appId: string
  /** Becomes the webhook-id of every call and its retry. */
  readonly decisionId: string
  readonly webhookData: WebhookData
}

export type Approver = {
  /**
   * Asks all active webhooks of the app at the same time. All must approve; no answer in time, or
   * anything that is not an answer, counts as no. Throws InvalidParamsError when a webhook is
   * called by GET and the data is too long for that; then none is called.
   */
  approve(question: ApprovalQuestion): Promise<Approval>
}

const defaultDeadline = 2_000

export const createApprover = ({
  database,
  masterKey,
  client,
  deadline = defaultDeadline,
}: ApproverContext): Approver => ({
  async approve({ appId, decisionId, webhookData }) {
    const startedAt = new Date()
    const timestamp = Math.floor(startedAt.getTime() / 1000)
    const webhooks = await listActiveWebhooks(database, appId)
    const requests = webhooks.map((webhook) => ({
      webhook,
      request: approvalRequest({
        url: webhook.url,
        requestType: webhook.request_type,
        secret: decryptSecret(masterKey, secretPurpose, webhook.secret),
        decisionId,
        webhookData,
        timestamp,
        userAgent: `Purser/${version}`,
      }),
    }))
    const signal = AbortSignal.timeout(deadline)
    const calls = await Promise.all(
      requests.map(({ webhook, request }) => ask(client, webhook, request, signal, startedAt)),
    )
    return { approved: calls.every(({ outcome }) => outcome === 'approved'), calls }
  },
})

const ask = async (
  client: OutboundClient,
  webhook: StoredWebhook,
  request: OutboundRequest,
  signal: AbortSignal,
  startedAt: Date,
): Promise<WebhookCall> => {
  const begin = performance.now()
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
