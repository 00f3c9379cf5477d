import type { Operation } from '../../../src/erc4337/operation.js'

/** An operation that does nothing; for what looks at some fields only. */
export function plainOperation(fields: Partial<Operation>): Operation {
  return {
    sender: `0x${'11'.repeat(20)}`,
    nonce: 0n,
    factory: undefined,
    factoryData: '0x',
    callData: '0x',
    callGasLimit: 60_000n,
    verificationGasLimit: 150_000n,
    preVerificationGas: 50_000n,
    maxFeePerGas: 0n,
    maxPriorityFeePerGas: 0n,
    paymaster: undefined,
    paymasterVerificationGasLimit: 0n,
    paymasterPostOpGasLimit: 0n,
    paymasterData: '0x',
    signature: '0x01',
    authorization: undefined,
    ...fields,
  }
}
