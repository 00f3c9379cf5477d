import type { Address } from 'viem'
import type { Operation } from '../../../src/erc4337/operation.js'

/** An operation without factory and paymaster, with ample limits. */
export function operationOf(sender: Address, fields: Partial<Operation> = {}): Operation {
  return {
    sender,
    nonce: 0n,
    factory: undefined,
    factoryData: '0x',
    callData: '0x',
    callGasLimit: 50_000n,
    verificationGasLimit: 3_000_000n,
    preVerificationGas: 1_000_000n,
    maxFeePerGas: 3_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    paymaster: undefined,
    paymasterVerificationGasLimit: 0n,
    paymasterPostOpGasLimit: 0n,
    paymasterData: '0x',
    signature: '0x',
    authorization: undefined,
    ...fields,
  }
}
