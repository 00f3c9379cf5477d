import type { Address } from 'viem'
import { MempoolFullError } from '../errors/operationErrors.js'
import type { PurserError } from '../errors/purserError.js'
import { EntityReputationError } from '../errors/ruleErrors.js'
import type { Reverts } from '../store/pool/reverts.js'
import { THROTTLED_OPERATIONS } from './reputation.js'

/** Seconds for which a sender rests after its first revert of a day; each further one doubles them. */
const FIRST_REST = 600
const LONGEST_REST = 86_400

/** Reverts of an app within an hour from which on few of its operations may be pending. */
const TOLERATED_REVERTS = 3

/**
 * The refusal of an operation whose sender or app has made bundles fail on the chain, where the operator
 * pays: the sender rests, and of the app's senders that have never had an operation included only a few may
 * have one pending. The others go on: a key that is in every page of an app is not a reason to stop them.
 */
export function checkReverts(
  sender: Address,
  { ofSender, age, ofApp, isKnown, pendingOfApp }: Reverts,
): PurserError | undefined {
  const rest = ofSender === 0 ? 0 : Math.min(FIRST_REST * 2 ** (ofSender - 1), LONGEST_REST)
  if (age < rest) {
    const reason = `made ${ofSender} bundles fail on the chain within a day: send again in ${Math.ceil(rest - age)} s`
    return new EntityReputationError({ role: 'account', address: sender }, 'GREP-020', reason)
  }
  if (ofApp < TOLERATED_REVERTS || isKnown || pendingOfApp < THROTTLED_OPERATIONS) return undefined
  return new MempoolFullError(
    `operations of this key's app made ${ofApp} bundles fail on the chain within an hour: only ${THROTTLED_OPERATIONS} of new senders may be pending. Wait until some are included.`,
  )
}
