import type { Address } from 'viem'
import type { Operation } from '../../../src/erc4337/operation.js'
import { plainOperation } from '../operations/plainOperation.js'

/** An operation without factory and paymaster, with ample limits. */
export function operationOf(sender: Address, fields: Partial<Operation> = {}): Operation {
  return plainOperation({
    sender,
    callGasLimit: 50_000n,
    verificationGasLimit: 3_000_000n,
    preVerificationGas: 1_000_000n,
    maxFeePerGas: 3_000_000_000n,
    maxPriorityFeePerGas: 1_000_000_000n,
    signature: '0x',
    ...fields,
  })
}
