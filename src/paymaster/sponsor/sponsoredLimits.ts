import { greatest } from '../../base/bigints.js'
import type { Draft } from '../../entrypoint/draft.js'
import type { GasEstimate } from '../../gas/gasEstimate.js'

/** gas */
export type SponsoredLimits = {
  readonly callGasLimit: bigint
  readonly verificationGasLimit: bigint
  readonly preVerificationGas: bigint
  /** 0 where the version has no such field (v0.6). */
  readonly paymasterVerificationGasLimit: bigint
}

/** The client's own limits, when it gave the account's three and does not want them calculated. */
export function givenLimits(
  draft: Draft,
  calculateGasLimits: boolean,
): SponsoredLimits | undefined {
  const { callGasLimit, verificationGasLimit, preVerificationGas } = draft
  const all = callGasLimit && verificationGasLimit && preVerificationGas
  if (calculateGasLimits || !all) return undefined
  const { paymasterVerificationGasLimit = 0n } = draft
  return { callGasLimit, verificationGasLimit, preVerificationGas, paymasterVerificationGasLimit }
}

/**
 * The limits to sign. Given ones are echoed; but clients estimate them before they know the tank
 * (their flow with calculateGasLimits false), so verification and calldata that the tank adds may
 * not fit: these are then raised to what `estimate`, made with the tank, needs.
 */
export function limitsToSign(
  given: SponsoredLimits | undefined,
  estimate: GasEstimate,
): SponsoredLimits {
  const { callGasLimit, verificationGasLimit, preVerificationGas } = estimate
  const { paymasterVerificationGasLimit = 0n } = estimate
  if (given === undefined) {
    return { callGasLimit, verificationGasLimit, preVerificationGas, paymasterVerificationGasLimit }
  }
  return {
    callGasLimit: given.callGasLimit,
    verificationGasLimit: greatest(given.verificationGasLimit, verificationGasLimit),
    preVerificationGas: greatest(given.preVerificationGas, preVerificationGas),
    paymasterVerificationGasLimit: greatest(
      given.paymasterVerificationGasLimit,
      paymasterVerificationGasLimit,
    ),
  }
}
