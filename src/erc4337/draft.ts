import type { Operation } from './operation.js'

type GasField =
  | 'callGasLimit'
  | 'verificationGasLimit'
  | 'preVerificationGas'
  | 'maxFeePerGas'
  | 'maxPriorityFeePerGas'
  | 'paymasterVerificationGasLimit'
  | 'paymasterPostOpGasLimit'

/** An operation on its way to be estimated or sponsored: gas limits and fees may still be unset. */
export type Draft = Omit<Operation, GasField> & {
  readonly [field in GasField]: bigint | undefined
}
