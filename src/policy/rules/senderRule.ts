import type { Rule } from './rule.js'

/** The sender is not denied, and allowed where there is a list of that. */
export const senderRule: Rule = ({ allowSenders, denySenders }, { sender }) => {
  if (denySenders.includes(sender))
    return { code: 'SENDER_NOT_ALLOWED', message: `sender ${sender} is denied.` }
  if (allowSenders !== undefined && !allowSenders.includes(sender))
    return {
      code: 'SENDER_NOT_ALLOWED',
      message: `sender ${sender} is not among the ${allowSenders.length} that are allowed.`,
    }
  return undefined
}
