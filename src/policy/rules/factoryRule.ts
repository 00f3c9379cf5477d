import { DELEGATION_MARKER } from '../../entrypoint/delegation.js'
import type { PolicyRule } from './rule.js'

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
        message: `the factory ${factory} of the operation is none of those that it pays for.`,
      }
    : undefined
}
