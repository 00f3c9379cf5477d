import { greatest, smallest } from '../../base/bigints.js'
import type { Draft } from '../../erc4337/draft.js'
import {
  type GasEstimate,
  headroomIn,
  preVerificationBounds,
  VALIDATION_GAS_SLACK,
} from '../../gas/estimateOperation.js'

/** The gas limits of a sponsored operation. */
export type SponsoredLimits = {
  readonly callGasLimit: bigint
  readonly verificationGasLimit: bigint
  readonly preVerificationGas: bigint
  /** 0 where the version has no such field (v0.6). */
  readonly paymasterVerificationGasLimit: bigint
}

/** The client's own limits, when it set the account's three and does not want them calculated. */
export function givenLimits(
  draft: Draft,
  calculateGasLimits: boolean,
): SponsoredLimits | undefined {
  const { callGasLimit, verificationGasLimit, preVerificationGas } = draft
  const isComplete = callGasLimit && verificationGasLimit && preVerificationGas
  if (calculateGasLimits || !isComplete) return undefined
  const { paymasterVerificationGasLimit = 0n } = draft
  return { callGasLimit, verificationGasLimit, preVerificationGas, paymasterVerificationGasLimit }
}

/**
 * The limits to sign. A client's own limits are echoed, because some clients keep theirs whatever we
 * answer. Only one that is too low by `estimate`, which was made with the tank, is raised: with it the
 * operation would fail, and the tank would pay for that. The verification of a passkey takes up to 10 % more gas for
 * other paymaster data, so a limit that covers what was measured, without headroom, is high enough; in v0.6, where
 * postOp has the same limit, one within the difference of two searches.
 */
export function limitsToSign(
  requested: SponsoredLimits | undefined,
  estimate: GasEstimate,
): SponsoredLimits {
  const { callGasLimit, verificationGasLimit, preVerificationGas } = estimate
  const { paymasterVerificationGasLimit = 0n } = estimate
  const hasPaymasterLimits = estimate.paymasterVerificationGasLimit !== undefined
  if (requested === undefined) {
    return { callGasLimit, verificationGasLimit, preVerificationGas, paymasterVerificationGasLimit }
  }
  return {
    callGasLimit: greatest(requested.callGasLimit, callGasLimit),
    verificationGasLimit: highEnough(
      requested.verificationGasLimit,
      verificationGasLimit,
      hasPaymasterLimits
        ? headroomIn(verificationGasLimit)
        : searchDifference(verificationGasLimit),
    ),
    preVerificationGas:
      requested.preVerificationGas >= preVerificationBounds(estimate).least
        ? requested.preVerificationGas
        : preVerificationGas,
    paymasterVerificationGasLimit: highEnough(
      requested.paymasterVerificationGasLimit,
      paymasterVerificationGasLimit,
      smallest(searchDifference(paymasterVerificationGasLimit), VALIDATION_GAS_SLACK),
    ),
  }
}

/** Gas by which two searches for one limit may differ: each ends at most 1.6 % and 64 gas above the smallest. */
function searchDifference(limit: bigint): bigint {
  return limit / 64n + 128n
}

function highEnough(own: bigint, estimated: bigint, difference: bigint): bigint {
  return own + difference >= estimated ? own : estimated
}
