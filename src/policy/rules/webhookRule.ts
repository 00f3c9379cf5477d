import type { PolicyTerms } from '../policy.js'
import type { Refusal } from '../../errors/refusal.js'

/** webhookMode always: at least one webhook was asked. What they said is judged for all policies. */
export function webhookRule(
  terms: Pick<PolicyTerms, 'webhookMode'>,
  asked: number,
): Refusal | undefined {
  return terms.webhookMode === 'always' && asked === 0
    ? {
        code: 'NO_ACTIVE_WEBHOOK',
        message: 'it needs the approval of a webhook, and the app has no active one.',
      }
    : undefined
}
