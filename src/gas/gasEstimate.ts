/** The answer of eth_estimateUserOperationGas, before a dialect writes it. Limits in gas, fees in wei per gas. */
export type GasEstimate = {
  readonly callGasLimit: bigint
  readonly verificationGasLimit: bigint
  readonly preVerificationGas: bigint
  /** Present when the operation has a paymaster and the version has the field. */
  readonly paymasterVerificationGasLimit: bigint | undefined
  readonly paymasterPostOpGasLimit: bigint | undefined
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  /** Unix seconds; 0 = no bound. */
  readonly validAfter: number
  readonly validUntil: number
}
