import type { Address, Hex } from 'viem'

/** EIP-7702 tuple of an operation, signed. */
export type Authorization = {
  readonly chainId: number
  readonly address: Address
  readonly nonce: bigint
  readonly yParity: 0 | 1
  readonly r: Hex
  readonly s: Hex
}

/**
 * One UserOperation, the same shape for every EntryPoint version; each version's file packs it.
 * Addresses and bytes are lower-case hex. All gas limits in gas, fees in wei per gas.
 */
export type Operation = {
  readonly sender: Address
  readonly nonce: bigint
  /** `0x7702` padded to 20 bytes marks an EIP-7702 sender (v0.8 and later). */
  readonly factory: Address | undefined
  readonly factoryData: Hex
  readonly callData: Hex
  readonly callGasLimit: bigint
  readonly verificationGasLimit: bigint
  readonly preVerificationGas: bigint
  readonly maxFeePerGas: bigint
  readonly maxPriorityFeePerGas: bigint
  readonly paymaster: Address | undefined
  /** 0 where the version has no such field (v0.6). */
  readonly paymasterVerificationGasLimit: bigint
  /** 0 where the version has no such field (v0.6). */
  readonly paymasterPostOpGasLimit: bigint
  readonly paymasterData: Hex
  readonly signature: Hex
  readonly authorization: Authorization | undefined
}

/** The members of an operation that are about its paymaster. */
export type OperationPaymaster = Pick<
  Operation,
  'paymaster' | 'paymasterVerificationGasLimit' | 'paymasterPostOpGasLimit' | 'paymasterData'
>
