import type { PolicyRule } from './rule.js'

/** The sender is not denied, and is allowed where the policy lists allowed senders. */
export const senderRule: PolicyRule = ({ allowSenders, denySenders }, { sender }) => {
  if (denySenders.includes(sender))
    return { code: 'SENDER_NOT_ALLOWED', message: `sender ${sender} is denied.` }
  if (allowSenders !== undefined && !allowSenders.includes(sender))
    return {
      code: 'SENDER_NOT_ALLOWED',
      message: `sender ${sender} is not among the ${allowSenders.length} that are allowed.`,
    }
  return undefined
}
