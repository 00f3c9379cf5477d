import type { PolicyRule } from './rule.js'

/** The policy names the chain, or no chain at all. */
export const chainRule: PolicyRule = ({ chains }, { chainId }) =>
  chains === undefined || chains.includes(chainId)
    ? undefined
    : {
        code: 'CHAIN_NOT_COVERED',
        message: `it covers chains ${chains.join(', ')}, not ${chainId}.`,
      }
