import type { Refusal } from '../errors/refusal.js'

/** The gas limits that are to be signed. */
export type RequestedGas = {
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

/**
 * preVerificationGas is paid to the bundler in full, used or not; clients add up to this to ours.
 */
const MAX_PRE_VERIFICATION_MULTIPLE = 3n

/**
 * The refusal of limits that are absurd for an operation that a tank pays: they would lock the
 * deposit or hand it to a bundler. `estimated` is our own preVerificationGas.
 */
export function checkGas(
  requested: RequestedGas,
  estimated: bigint,
  { maxVerificationGas, maxBundleGas }: GasLimits,
): Refusal | undefined {
  const { verificationGasLimit, paymasterVerificationGasLimit } = requested
  const { preVerificationGas, bundleGas } = requested
  const bounds: [name: string, value: bigint, limit: bigint][] = [
    ['verificationGasLimit', verificationGasLimit, maxVerificationGas],
    ['paymasterVerificationGasLimit', paymasterVerificationGasLimit, maxVerificationGas],
    ['preVerificationGas', preVerificationGas, estimated * MAX_PRE_VERIFICATION_MULTIPLE],
    ['the gas of all limits together', bundleGas, maxBundleGas],
  ]
  const broken = bounds.find(([, value, limit]) => value > limit)
  if (broken === undefined) return undefined
  const [name, value, limit] = broken
  const message = `${name} is ${value}; a sponsored operation may have ${limit}. Send calculateGasLimits true to get limits that fit.`
  return { code: 'GAS_TOO_HIGH', message }
}
