import type { Draft } from '../entrypoint/draft.js'
import type { GasEstimate } from '../gas/gasEstimate.js'

/** gas */
export type Limits = {
  readonly callGasLimit: bigint
  readonly verificationGasLimit: bigint
  readonly preVerificationGas: bigint
}

/** The client's own limits, when it gave all three and does not want them calculated. */
export const givenLimits = (draft: Draft, calculateGasLimits: boolean): Limits | undefined => {
  const { callGasLimit, verificationGasLimit, preVerificationGas } = draft
  const all = callGasLimit && verificationGasLimit && preVerificationGas
  if (calculateGasLimits || !all) return undefined
  return { callGasLimit, verificationGasLimit, preVerificationGas }
}

/**
 * The limits to sign. Given ones are echoed; but clients estimate them before they know the tank
 * (their flow with calculateGasLimits false), so verification and calldata that the tank adds may
 * not fit: these two are then raised to what `estimate`, made with the tank, needs.
 */
export const limitsToSign = (given: Limits | undefined, estimate: GasEstimate): Limits => {
  const { callGasLimit, verificationGasLimit, preVerificationGas } = estimate
  if (given === undefined) return { callGasLimit, verificationGasLimit, preVerificationGas }
  return {
    callGasLimit: given.callGasLimit,
    verificationGasLimit: atLeast(given.verificationGasLimit, verificationGasLimit),
    preVerificationGas: atLeast(given.preVerificationGas, preVerificationGas),
  }
}

const atLeast = (value: bigint, least: bigint): bigint => (value < least ? least : value)
