import type { Refusal } from '../../errors/refusal.js'
import type { Policy } from '../policy.js'
import { callRule } from './callRule.js'
import { chainRule } from './chainRule.js'
import { deploymentRule } from './deploymentRule.js'
import { factoryRule } from './factoryRule.js'
import { maxFeeRule } from './maxFeeRule.js'
import type { EstimateFacts, PolicyRule } from './rule.js'
import { senderRule } from './senderRule.js'
import { timeRule } from './timeRule.js'
import { webhookRule } from './webhookRule.js'

/** Rules on where and when a policy applies at all. */
export const scopeRules = { time: timeRule, chain: chainRule } satisfies Rules

/** Rules on whom and what a policy pays for. */
export const requestRules = {
  sender: senderRule,
  deployment: deploymentRule,
  factory: factoryRule,
  calls: callRule,
} satisfies Rules

/** Rules on the result of the estimate and of the webhooks. */
export const estimateRules = {
  webhook: webhookRule,
  fee: maxFeeRule,
} satisfies Rules<EstimateFacts>

/** Rules by the names that people read, in the order in which they are applied. */
type Rules<Facts = Parameters<PolicyRule>[1]> = Readonly<Record<string, PolicyRule<Facts>>>

/** A refusal of a rule as the sentence that names its policy. */
export function naming({ name }: Pick<Policy, 'name'>, { code, message }: Refusal): Refusal {
  return { code, message: `Policy ${name}: ${message}` }
}
