import type { Metrics } from '../base/metrics/metrics.js'
import type { OutboundClient, OutboundRequest } from '../base/outbound/guardedRequest.js'
import type { Database } from '../db/database.js'
import { approvalRequest, type WebhookData } from './approval/approvalRequest.js'
import { createCircuits } from './approval/circuits.js'
import { type Approval, isOutage, type WebhookCall } from './approval.js'
import { type AnsweredCall, callWebhook } from './callWebhook.js'
import { extendedPayload, type SponsorshipSubject } from './extendedPayload.js'
import { listActiveWebhooks, type StoredWebhook } from './manage.js'
import { signingSecrets } from './signing/signature.js'

type ApproverContext = {
  readonly database: Database
  readonly masterKey: Buffer
  readonly client: OutboundClient
  readonly metrics: Metrics
  /** Called when a webhook has failed so often that it is not called for a while. */
  readonly onCircuitOpened?: (webhookId: string) => void
  /** Called when such a webhook has answered again. */
  readonly onCircuitClosed?: (webhookId: string) => void
}

/** The question whether an app's webhooks approve a sponsorship. */
type ApprovalQuestion = {
  readonly appId: string
  /** The webhook-id of every call and its retry. */
  readonly decisionId: string
  readonly webhookData: WebhookData
  readonly subject: SponsorshipSubject
}

export type Approver = {
  /**
   * Asks all active webhooks of the app at the same time, each within its own deadline, which
   * includes name resolution and retry. All must approve. A webhook that is out of order (`isOutage`)
   * counts as its `on_failure` says, any other answer but an approval as a denial. Throws InvalidParamsError when a
   * webhook is called by GET and the data is too long for that; then no webhook is called.
   */
  approve(question: ApprovalQuestion): Promise<Approval>
}

export function createApprover(context: ApproverContext): Approver {
  const { database, masterKey, client, metrics, onCircuitOpened, onCircuitClosed } = context
  const circuits = createCircuits(
    (call) => isOutage(call as AnsweredCall),
    (webhookId) => {
      metrics.count('purser_webhook_circuits_opened_total', {})
      onCircuitOpened?.(webhookId)
    },
    (webhookId) => onCircuitClosed?.(webhookId),
  )

  const ask = async (
    webhook: StoredWebhook,
    request: OutboundRequest,
    startedAt: Date,
  ): Promise<WebhookCall> => {
    const webhookId = webhook.id
    const call = await circuits.run(webhookId, () =>
      callWebhook(client, webhook, request, startedAt),
    )
    const made = typeof call === 'string' ? notCalled(webhookId, call, startedAt) : call
    const { outcome, durationMs } = made
    metrics.observe('purser_webhook_duration_seconds', { outcome }, durationMs / 1_000)
    const isOut = isOutage(made) || made.outcome === 'circuit_open'
    const passed = isOut ? webhook.on_failure === 'approve' : made.outcome === 'approved'
    return { ...made, passed }
  }

  return {
    async approve({ appId, decisionId, webhookData, subject }) {
      const startedAt = new Date()
      const timestamp = Math.floor(startedAt.getTime() / 1000)
      const webhooks = await listActiveWebhooks(database, appId)
      const isExtended = webhooks.some(({ payload }) => payload === 'extended')
      const extension = isExtended ? await extendedPayload(subject, appId, timestamp) : undefined
      const requests = webhooks.map((webhook) => ({
        webhook,
        request: approvalRequest({
          url: webhook.url,
          requestType: webhook.request_type,
          secrets: signingSecrets(masterKey, webhook, startedAt),
          decisionId,
          webhookData,
          extension: webhook.payload === 'extended' ? extension : undefined,
          timestamp,
        }),
      }))
      const calls = await Promise.all(
        requests.map(({ webhook, request }) => ask(webhook, request, startedAt)),
      )
      return { approved: calls.every(({ passed }) => passed), calls }
    },
  }
}

function notCalled(
  webhookId: string,
  outcome: 'circuit_open' | 'overloaded',
  startedAt: Date,
): AnsweredCall {
  return {
    webhookId,
    outcome,
    httpStatus: undefined,
    reason:
      outcome === 'circuit_open'
        ? 'it keeps failing, so it is not called for some seconds.'
        : 'too many calls to it are under way.',
    attempts: 0,
    durationMs: 0,
    startedAt,
  }
}
