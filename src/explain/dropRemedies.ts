import type { dropCodes } from '../store/dropCode.js'
import type { Remedy } from './explanation.js'

/** Operations that were accepted and left the pool without being included. */
export const dropRemedies: Readonly<Record<keyof typeof dropCodes, Remedy>> = {
  REPLACED: { culprit: 'app', steps: ['Follow the operation that replaced it.'] },
  EVICTED: { culprit: 'app', steps: ['Send it again with higher fees, or later.'] },
  PREDECESSOR_DROPPED: {
    culprit: 'app',
    steps: ['Send the operation with the nonce before it again, then this one.'],
  },
  EXPIRED: {
    culprit: 'app',
    steps: ['Sign it again with a later end, or ask for a longer sponsorship.'],
  },
  WAITED_TOO_LONG: {
    culprit: 'app',
    steps: ['Send it again with the fees that the service advises now.'],
  },
  TOO_COSTLY: { culprit: 'app', steps: ['Make its validation do less work.'] },
  REVERTED: {
    culprit: 'app',
    steps: ['Simulate it: the EntryPoint reverts with it alone, without naming a reason.'],
  },
  BUNDLE_FAILED: {
    culprit: 'app',
    steps: [
      'Simulate it: it passes in simulation and fails on the chain, so something it reads changes.',
    ],
  },
  BUNDLE_NOT_SHARED: {
    culprit: 'app',
    steps: ['Send it again with the preVerificationGas of a new estimate.'],
  },
  STALE_AUTHORIZATION: {
    culprit: 'app',
    steps: ['Sign the authorization again with the nonce that the account has now.'],
  },
  CHARGE_FAILS: {
    culprit: 'user',
    steps: ['Leave enough tokens in the account to pay for the gas after the call.'],
  },
  CANCELLED: { culprit: 'operator', steps: ['Ask whoever cancelled it why, and send it again.'] },
  CLEARED: { culprit: 'operator', steps: ['Send it again.'] },
  CHAIN_RESET: { culprit: 'chain', steps: ['Send it again: the development chain began anew.'] },
}
