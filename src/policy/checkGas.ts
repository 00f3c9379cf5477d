import type { Refusal } from '../errors/refusal.js'
import { type GasEstimate, preVerificationBounds } from '../gas/gasEstimate.js'

/** The gas limits that are to be signed. */
export type RequestedGas = {
  readonly callGasLimit: bigint
  readonly verificationGasLimit: bigint
  /** 0 where the version has no such field (v0.6). */
  readonly paymasterVerificationGasLimit: bigint
  readonly preVerificationGas: bigint
  /** Gas that the operation may use inside a bundle (EntryPoint.bundleGas). */
  readonly bundleGas: bigint
}

/** The chain's bounds on gas. */
export type GasLimits = {
  readonly maxVerificationGas: bigint
  /** Gas of one bundle transaction. */
  readonly maxBundleGas: bigint
}

/** Our own estimate of the same operation. */
export type EstimatedGas = Pick<
  GasEstimate,
  | 'callGasLimit'
  | 'verificationGasLimit'
  | 'preVerificationGas'
  | 'preVerificationBounds'
  | 'paymasterVerificationGasLimit'
>

/**
 * Percent of our estimate, and gas beyond, that a limit may have. From v0.7 on a tenth of the call gas
 * that is left over is charged, and all of a prefund is locked. Clients add 10 to 20 % to estimates, or have
 * fixed limits (userop.js: 210,000 for verification).
 */
const LIMIT_PERCENT = 150n
const LIMIT_SLACK = 200_000n
/** Percent of the highest preVerificationGas that an estimate of the last minutes may have had, which whoever bundles gets in full, used or not. */
const PRE_VERIFICATION_PERCENT = 125n

/**
 * The refusal of limits that are absurd for an operation that a tank pays: they would lock the
 * deposit, or hand it to whoever carries the operation to the chain.
 */
export function checkGas(
  requested: RequestedGas,
  estimated: EstimatedGas,
  { maxVerificationGas, maxBundleGas }: GasLimits,
): Refusal | undefined {
  const atMost = (estimate: bigint) => (estimate * LIMIT_PERCENT) / 100n + LIMIT_SLACK
  const { paymasterVerificationGasLimit: ofPaymaster = 0n } = estimated
  const { most } = preVerificationBounds(estimated)
  const bounds = {
    verificationGasLimit: atMost(estimated.verificationGasLimit),
    paymasterVerificationGasLimit: atMost(ofPaymaster),
    callGasLimit: atMost(estimated.callGasLimit),
    preVerificationGas: (most * PRE_VERIFICATION_PERCENT) / 100n,
  }
  const ofChain: [name: string, value: bigint, limit: bigint][] = [
    ['verificationGasLimit', requested.verificationGasLimit, maxVerificationGas],
    ['paymasterVerificationGasLimit', requested.paymasterVerificationGasLimit, maxVerificationGas],
    ['the gas of all limits together', requested.bundleGas, maxBundleGas],
  ]
  const ofEstimate = (Object.keys(bounds) as (keyof typeof bounds)[]).map(
    (name) => [name, requested[name], bounds[name]] as const,
  )
  const broken = [...ofChain, ...ofEstimate].find(([, value, limit]) => value > limit)
  if (broken === undefined) return undefined
  const [name, value, limit] = broken
  const message = `${name} is ${value}; a sponsored operation may have ${limit}. Send calculateGasLimits true to get limits that fit.`
  return { code: 'GAS_TOO_HIGH', message }
}
