import type { Address, Hex } from 'viem'
import type { StateOverride } from '../../chain/stateOverride.js'
import type { Operation } from '../../entrypoint/operation.js'

/** The sender of the check: ASCII "purser check", no contract on any chain. */
const SENDER: Address = '0x000000000000000070757273657220636865636b'

/** Code that answers every call with 32 zero bytes: any operation is valid and its call succeeds. */
const CODE: Hex = '0x5f5f5260205ff3'

/**
 * An operation that needs nothing but the EntryPoint: it is free and its sender accepts everything. Its tip is above its
 * price, so that it takes the same gas at every base fee: geth shows 0 to a call that offers no price.
 */
export const checkOperation: Operation = {
  sender: SENDER,
  nonce: 0n,
  factory: undefined,
  factoryData: '0x',
  callData: '0x70757273',
  callGasLimit: 100_000n,
  verificationGasLimit: 200_000n,
  preVerificationGas: 50_000n,
  maxFeePerGas: 0n,
  maxPriorityFeePerGas: 1n,
  paymaster: undefined,
  paymasterVerificationGasLimit: 0n,
  paymasterPostOpGasLimit: 0n,
  paymasterData: '0x',
  signature: '0x',
  authorization: undefined,
}

/** The state in which `checkOperation` succeeds. */
export const checkOverride: StateOverride = { [SENDER]: { code: CODE } }
