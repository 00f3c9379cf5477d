import type { EstimateFacts, PolicyRule } from './rule.js'

/**
 * A policy with webhookMode `always` needs a webhook that was asked. The answers of the webhooks
 * bind all policies alike, so `checkApproval` reads them, not this rule.
 */
export const webhookRule: PolicyRule<EstimateFacts> = ({ webhookMode }, { webhooksAsked }) =>
  webhookMode === 'always' && webhooksAsked === 0
    ? {
        code: 'NO_ACTIVE_WEBHOOK',
        message: 'it needs the approval of a webhook, and the app has no active one.',
      }
    : undefined
