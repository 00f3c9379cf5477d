import type { PolicyRule } from './rule.js'

/** The policy is in force from validFrom to validUntil. */
export const timeRule: PolicyRule = ({ validFrom, validUntil }, { at }) => {
  if (validFrom !== undefined && at < validFrom)
    return { code: 'POLICY_NOT_IN_FORCE', message: `it begins at ${validFrom}, now is ${at}.` }
  if (validUntil !== undefined && at > validUntil)
    return { code: 'POLICY_NOT_IN_FORCE', message: `it ended at ${validUntil}, now is ${at}.` }
  return undefined
}
