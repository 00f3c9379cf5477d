import { z } from 'zod'

export const bytes = z.string().regex(/^0x([0-9a-fA-F]{2})*$/)
export const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/)
export const word = z.string().regex(/^0x[0-9a-fA-F]{64}$/)
export const hexQuantity = z.string().regex(/^0x(0|[1-9a-f][0-9a-f]*)$/)
export const decimal = z.string().regex(/^\d+$/)

/** The classic dialect's number: a JSON number where it is exact, else hex. */
export const classicNumber = z.union([z.int().min(0), hexQuantity])

const authorization = z.object({
  chainId: hexQuantity,
  address,
  nonce: hexQuantity,
  yParity: hexQuantity,
  r: word,
  s: word,
})

const payer = {
  paymaster: address.optional(),
  paymasterData: bytes.optional(),
  paymasterSignature: bytes.optional(),
}

/** The paymaster of an operation in the shape of its version. */
export const hexPayer = {
  paymasterAndData: bytes.optional(),
  ...payer,
  paymasterVerificationGasLimit: hexQuantity.optional(),
  paymasterPostOpGasLimit: hexQuantity.optional(),
}

/** The same with the numbers of the classic dialect. */
export const classicPayer = {
  ...payer,
  paymasterVerificationGasLimit: classicNumber.optional(),
  paymasterPostOpGasLimit: classicNumber.optional(),
}

export const hexLimits = {
  callGasLimit: hexQuantity,
  verificationGasLimit: hexQuantity,
  preVerificationGas: hexQuantity,
}

export const decimalFees = { maxPriorityFeePerGas: decimal, maxFeePerGas: decimal }

export const hexFees = { maxFeePerGas: hexQuantity, maxPriorityFeePerGas: hexQuantity }

export const operationMembersOut = {
  sender: address,
  nonce: hexQuantity,
  initCode: bytes.optional(),
  factory: address.optional(),
  factoryData: bytes.optional(),
  callData: bytes,
  ...hexLimits,
  ...hexFees,
  ...hexPayer,
  signature: bytes,
  eip7702Auth: authorization.optional(),
}

export const operation = z.object(operationMembersOut).meta({ id: 'Operation' })
