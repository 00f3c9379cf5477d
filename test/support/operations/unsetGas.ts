import type { Draft } from '../../../src/erc4337/draft.js'

/** Limits and fees of a draft that is to be estimated. */
export const unsetGas = {
  callGasLimit: undefined,
  verificationGasLimit: undefined,
  preVerificationGas: undefined,
  maxFeePerGas: undefined,
  maxPriorityFeePerGas: undefined,
  paymasterVerificationGasLimit: undefined,
  paymasterPostOpGasLimit: undefined,
} satisfies Partial<Draft>
