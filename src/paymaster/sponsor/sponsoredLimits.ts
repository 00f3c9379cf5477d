import { greatest } from '../../base/bigints.js'
import type { Draft } from '../../entrypoint/draft.js'
import type { GasEstimate } from '../../gas/gasEstimate.js'

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
 * The limits to sign. A client's own limits are echoed; but clients estimate them before they know
 * the tank (their flow with calculateGasLimits false), so the verification and calldata that the
 * tank adds may not fit. Such limits are raised to those of `estimate`, which was made with the
 * tank.
 */
export function limitsToSign(
  requested: SponsoredLimits | undefined,
  estimate: GasEstimate,
): SponsoredLimits {
  const { callGasLimit, verificationGasLimit, preVerificationGas } = estimate
  const { paymasterVerificationGasLimit = 0n } = estimate
  if (requested === undefined) {
    return { callGasLimit, verificationGasLimit, preVerificationGas, paymasterVerificationGasLimit }
  }
  return {
    callGasLimit: requested.callGasLimit,
    verificationGasLimit: greatest(requested.verificationGasLimit, verificationGasLimit),
    preVerificationGas: greatest(requested.preVerificationGas, preVerificationGas),
    paymasterVerificationGasLimit: greatest(
      requested.paymasterVerificationGasLimit,
      paymasterVerificationGasLimit,
    ),
  }
}
