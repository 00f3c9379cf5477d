import type { Approval } from '../webhook/approval.js'
import type { Refusal } from '../errors/refusal.js'

/** All webhooks must let it pass. A denial is told before a failure: it is what the customer decided. */
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
