import { DELEGATION_MARKER } from '../../entrypoint/delegation.js'
import type { PolicyRule } from './rule.js'

/**
 * The operation deploys its account, where the policy is for deployments only. An EIP-7702
 * delegation deploys none, and neither does a factory for a sender that has code: it is ignored there.
 */
export const deploymentRule: PolicyRule = ({ deploymentOnly }, { draft, senderExists }) => {
  const deploys =
    draft.factory !== undefined && draft.factory !== DELEGATION_MARKER && !senderExists
  return deploymentOnly && !deploys
    ? {
        code: 'NOT_A_DEPLOYMENT',
        message: 'it pays for the deployment of accounts only, and this operation deploys none.',
      }
    : undefined
}
