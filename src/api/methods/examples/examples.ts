import type { Address, Hex } from 'viem'
import type { Operation } from '../../../entrypoint/operation.js'

/*
 * One operation for the examples of all methods: it sends nothing to 0x…a11ce, on EntryPoint v0.7 of
 * chain 10.
 */

export const EXAMPLE_CHAIN_ID = 10

export const EXAMPLE_ENTRY_POINT: Address = '0x0000000071727de22e5e9d8baf0edac6f37da032'

/** The operation as clients send it, and as it is answered. */
export const exampleOperationJson = {
  sender: '0x9d7d81b4eecdf15ceb00ba42284ea36f8be68b90',
  nonce: '0x5',
  callData: '0xb61d27f600000000000000000000000000000000000000000000000000000000000a11ce',
  callGasLimit: '0x8ca0',
  verificationGasLimit: '0xea60',
  preVerificationGas: '0xbb80',
  maxFeePerGas: '0x59682f00',
  maxPriorityFeePerGas: '0xf4240',
  signature: `0x${'5a'.repeat(64)}1b`,
} as const

export const exampleOperation: Operation = {
  sender: exampleOperationJson.sender,
  nonce: 5n,
  factory: undefined,
  factoryData: '0x',
  callData: exampleOperationJson.callData,
  callGasLimit: 36_000n,
  verificationGasLimit: 60_000n,
  preVerificationGas: 48_000n,
  maxFeePerGas: 1_500_000_000n,
  maxPriorityFeePerGas: 1_000_000n,
  paymaster: undefined,
  paymasterVerificationGasLimit: 0n,
  paymasterPostOpGasLimit: 0n,
  paymasterData: '0x',
  signature: exampleOperationJson.signature,
  authorization: undefined,
}

/** The userOpHash of the operation. */
export const EXAMPLE_HASH: Hex =
  '0x86a6c69d0e3469a39406ccca05d9f8756ebc5cd3321f9425d66117bd0070571d'

export const EXAMPLE_TANK: Address = '0x7a11c0de00000000000000000000000000000007'

/** The operation as a tank sponsors it. */
export const exampleSponsored: Operation = {
  ...exampleOperation,
  paymaster: EXAMPLE_TANK,
  paymasterVerificationGasLimit: 30_000n,
  paymasterPostOpGasLimit: 1n,
  paymasterData: `0x${'c4'.repeat(77)}`,
}

export const exampleDecision = {
  decisionId: '7b0f3c1e-5d2a-4c6e-9a51-0e8f4d2c7a10',
  sponsored: true,
  code: 'SPONSORED',
  message: 'Sponsored up to 261000000000000 wei.',
} as const

/** The parameters of ERC-7677. */
export const examplePaymasterParams = [
  exampleOperationJson,
  EXAMPLE_ENTRY_POINT,
  '0xa',
  { mode: 'SPONSORED' },
] as const
