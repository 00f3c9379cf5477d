import { DELEGATION_MARKER } from '../../entrypoint/delegation.js'
import type { PolicyRule } from './rule.js'

/**
 * The operation deploys its account, where the policy is for deployments only. An EIP-7702
 * delegation deploys none.
 */
export const deploymentRule: PolicyRule = ({ deploymentOnly }, { draft }) => {
  const deploys = draft.factory !== undefined && draft.factory !== DELEGATION_MARKER
  return deploymentOnly && !deploys
    ? {
        code: 'NOT_A_DEPLOYMENT',
        message: 'it pays for the deployment of accounts only, and this operation deploys none.',
      }
    : undefined
}
