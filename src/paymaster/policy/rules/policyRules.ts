import type { Refusal } from '../../../base/errors/catalogue.js'
import { timeText } from '../../../base/unixNow.js'
import { DELEGATION_MARKER } from '../../../erc4337/delegation.js'
import { delegatorsOf } from '../decodeCalls.js'
import type { Policy } from '../policySchema.js'
import { callRule } from './callRule.js'
import type { EstimateFacts, PolicyRule } from './rule.js'

/** A refusal of a rule as the sentence that names its policy. */
export function naming({ name }: Pick<Policy, 'name'>, { code, message }: Refusal): Refusal {
  return { code, message: `Policy ${name}: ${message}` }
}

/** The policy names the chain, or no chain at all. */
const chainRule: PolicyRule = ({ chains }, { chainId }) =>
  chains === undefined || chains.includes(chainId)
    ? undefined
    : {
        code: 'CHAIN_NOT_COVERED',
        message: `it covers chains ${chains.join(', ')}, not ${chainId}.`,
      }

/**
 * The operation deploys its account, where the policy is for deployments only. An EIP-7702
 * delegation deploys none, and neither does a factory for a sender that has code: it is ignored there.
 */
const deploymentRule: PolicyRule = ({ deploymentOnly }, { draft, senderExists }) => {
  const deploys =
    draft.factory !== undefined && draft.factory !== DELEGATION_MARKER && !senderExists
  return deploymentOnly && !deploys
    ? {
        code: 'NOT_A_DEPLOYMENT',
        message: 'it pays for the deployment of accounts only, and this operation deploys none.',
      }
    : undefined
}

/**
 * The factory of the operation is one that the policy names: its code runs at the sponsor's cost, with
 * data that no term on calls sees. An operation without factory passes, and so does an EIP-7702 marker
 * without data; with data it makes a call of its account.
 */
export const factoryRule: PolicyRule = ({ factories }, { draft }) => {
  const { factory, factoryData } = draft
  if (factories === undefined || factory === undefined) return undefined
  const runs = factory !== DELEGATION_MARKER || factoryData !== '0x'
  return runs && !factories.includes(factory)
    ? {
        code: 'FACTORY_NOT_ALLOWED',
        message: `the factory ${factory} of the operation is not among those that it pays for.`,
      }
    : undefined
}

/**
 * The fee that the operation bids is at most the policy's. Its code FEE_TOO_HIGH is that of
 * `checkFees` too, because the client's answer is the same: bid less. There the operator bounds
 * every operation by what inclusion needs now; here the policy's owner names a fixed amount.
 */
const maxFeeRule: PolicyRule<EstimateFacts> = (terms, { maxFeePerGas }) =>
  terms.maxFeePerGas !== undefined && maxFeePerGas > terms.maxFeePerGas
    ? {
        code: 'FEE_TOO_HIGH',
        message: `maxFeePerGas is ${maxFeePerGas} wei; it pays ${terms.maxFeePerGas} wei at most.`,
      }
    : undefined

/**
 * The sender is not denied, nor is an account whose delegation it redeems, and it is allowed where the policy lists
 * allowed senders.
 */
const senderRule: PolicyRule = ({ allowSenders, denySenders }, { sender, draft }) => {
  const delegators = denySenders.length === 0 ? [] : (delegatorsOf(draft) ?? [])
  const denied = delegators.find((delegator) => denySenders.includes(delegator))
  if (denied !== undefined)
    return { code: 'SENDER_NOT_ALLOWED', message: `delegator ${denied} is denied as a sender.` }
  if (denySenders.includes(sender))
    return { code: 'SENDER_NOT_ALLOWED', message: `sender ${sender} is denied.` }
  if (allowSenders !== undefined && !allowSenders.includes(sender))
    return {
      code: 'SENDER_NOT_ALLOWED',
      message: `sender ${sender} is not among the ${allowSenders.length} that are allowed.`,
    }
  return undefined
}

/** The policy is in force from validFrom to validUntil. */
const timeRule: PolicyRule = ({ validFrom, validUntil }, { at }) => {
  if (validFrom !== undefined && at < validFrom)
    return {
      code: 'POLICY_NOT_IN_FORCE',
      message: `it begins at ${timeText(validFrom)}, now is ${timeText(at)}.`,
    }
  if (validUntil !== undefined && at > validUntil)
    return {
      code: 'POLICY_NOT_IN_FORCE',
      message: `it ended at ${timeText(validUntil)}, now is ${timeText(at)}.`,
    }
  return undefined
}

/**
 * A policy with webhookMode `always` needs a webhook that was asked. The answers of the webhooks
 * bind all policies alike, so `checkApproval` reads them, not this rule.
 */
const webhookRule: PolicyRule<EstimateFacts> = ({ webhookMode }, { webhooksAsked }) =>
  webhookMode === 'always' && webhooksAsked === 0
    ? {
        code: 'NO_ACTIVE_WEBHOOK',
        message: 'it needs the approval of a webhook, and the app has no active one.',
      }
    : undefined

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
