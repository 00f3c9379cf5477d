/** The answer of eth_estimateUserOperationGas, before a dialect writes it. Limits in gas, fees in wei per gas. */
export type GasEstimate = {
  readonly callGasLimit: bigint
  readonly verificationGasLimit: bigint
  readonly preVerificationGas: bigint
  /**
   * The least that an estimate of the last minutes may have had, for a larger bundle, and the most, for a smaller
   * one; absent where all estimates reckon with one size.
   */
  readonly preVerificationBounds?: PreVerificationBounds | undefined
  /** Present when the operation has a paymaster and the version has the field. */
  readonly paymasterVerificationGasLimit: bigint | undefined
  readonly paymasterPostOpGasLimit: bigint | undefined
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** Unix seconds; 0 = no bound. */
  readonly validAfter: number
  readonly validUntil: number
}

export type PreVerificationBounds = { readonly least: bigint; readonly most: bigint }

/** The bounds of what estimates of the last minutes may have had; both its own where there are no others. */
export function preVerificationBounds(
  estimate: Pick<GasEstimate, 'preVerificationGas' | 'preVerificationBounds'>,
): PreVerificationBounds {
  const { preVerificationGas: gas, preVerificationBounds: bounds } = estimate
  return bounds ?? { least: gas, most: gas }
}
