import type { Refusal } from '../../base/errors/catalogue.js'
import type { Approval } from '../../webhooks/approval.js'

/**
 * The refusal by the app's webhooks, all of which must let the sponsorship pass. A denial comes
 * before a failure, because it is what the customer decided.
 */
export function checkApproval({ calls }: Approval): Refusal | undefined {
  const denied = calls.find(({ outcome }) => outcome === 'denied')
  const decisive = denied ?? calls.find(({ passed }) => !passed)
  if (decisive === undefined) return undefined
  const { webhookId, outcome, reason } = decisive
  const because = reason === undefined ? '.' : `: ${reason}`
  return denied === undefined
    ? {
        code: 'WEBHOOK_FAILED',
        message: `Webhook ${webhookId} gave no answer (${outcome})${because}`,
      }
    : { code: 'WEBHOOK_DENIED', message: `Webhook ${webhookId} denied the sponsorship${because}` }
}
