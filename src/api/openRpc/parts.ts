import { z } from 'zod'

/** Text that parameters may have, in any case. */
export const addressIn = z.string().regex(/^0[xX][0-9a-fA-F]{40}$/)
export const wordIn = z.string().regex(/^0[xX][0-9a-fA-F]{64}$/)
export const bytesIn = z.string().regex(/^0[xX]([0-9a-fA-F]{2})*$/)

/** Hex, padded or not, a decimal string, or a JSON number that is exact. */
export const quantityIn = z
  .union([
    z.string().regex(/^0[xX][0-9a-fA-F]{1,64}$/),
    z.string().regex(/^[0-9]{1,78}$/),
    z.int().min(0),
  ])
  .meta({ id: 'QuantityTaken', description: 'Hex, decimal text, or a whole JSON number to 2^53-1' })

/** Absent, null and `0x` say that it is not set. */
export const unsetQuantity = z.union([quantityIn, z.null(), z.literal('0x')]).optional()

export const bytes = z.string().regex(/^0x([0-9a-fA-F]{2})*$/)
export const address = z.string().regex(/^0x[0-9a-fA-F]{40}$/)
export const word = z.string().regex(/^0x[0-9a-fA-F]{64}$/)
export const hexQuantity = z.string().regex(/^0x(0|[1-9a-f][0-9a-f]*)$/)
export const decimal = z.string().regex(/^\d+$/)

/** The classic dialect's number: a JSON number where it is exact, else hex. */
export const classicNumber = z.union([z.int().min(0), hexQuantity])

/** Padded to 32 bytes on the left. */
export const shortWordIn = z.string().regex(/^0[xX][0-9a-fA-F]{1,64}$/)

const authorizationIn = z.looseObject({
  chainId: quantityIn,
  address: addressIn,
  nonce: quantityIn,
  yParity: quantityIn,
  r: shortWordIn,
  s: shortWordIn,
})

/** The members of an operation that no method can do without, and those of every version beside them. */
const operationMembers = {
  sender: addressIn,
  nonce: quantityIn,
  callData: bytesIn,
  initCode: bytesIn.optional(),
  paymasterAndData: bytesIn.optional(),
  factory: z.union([addressIn, z.null(), z.literal(['0x', '0x7702'])]).optional(),
  factoryData: bytesIn.optional(),
  paymaster: z.union([addressIn, z.null(), z.literal('0x')]).optional(),
  paymasterData: bytesIn.optional(),
  paymasterSignature: bytesIn.optional(),
  paymasterVerificationGasLimit: unsetQuantity,
  paymasterPostOpGasLimit: unsetQuantity,
  eip7702Auth: authorizationIn.optional(),
}

/** v0.6 has initCode and paymasterAndData, later versions the fields of factory and paymaster. */
export const operationIn = z
  .looseObject({
    ...operationMembers,
    callGasLimit: quantityIn,
    verificationGasLimit: quantityIn,
    preVerificationGas: quantityIn,
    maxFeePerGas: quantityIn,
    maxPriorityFeePerGas: quantityIn,
    signature: bytesIn,
  })
  .meta({ id: 'OperationTaken' })

const unsetGas = {
  callGasLimit: unsetQuantity,
  verificationGasLimit: unsetQuantity,
  preVerificationGas: unsetQuantity,
  maxFeePerGas: unsetQuantity,
  maxPriorityFeePerGas: unsetQuantity,
}

/** To be estimated: limits and fees may be unset, the signature has its length. */
export const draftIn = z
  .looseObject({ ...operationMembers, ...unsetGas, signature: bytesIn })
  .meta({ id: 'DraftTaken' })

/** To be sponsored: the signature may be absent too. */
export const partialIn = z
  .looseObject({ ...operationMembers, ...unsetGas, signature: bytesIn.optional() })
  .meta({ id: 'PartialOperationTaken' })

const slotsIn = z.record(shortWordIn, shortWordIn)

/** The state of accounts for the time of one simulation. */
export const stateOverrideIn = z
  .record(
    addressIn,
    z.strictObject({
      balance: quantityIn.optional(),
      nonce: quantityIn.optional(),
      code: bytesIn.optional(),
      state: slotsIn.optional(),
      /** Beside `state` it is refused. */
      stateDiff: slotsIn.optional(),
    }),
  )
  .nullable()
  .meta({ id: 'StateOverride' })

/** How a paymaster shall pay; see docs/api.md for its members. */
export const modeIn = z
  .looseObject({
    mode: z.enum(['SPONSORED', 'SPONSORSHIP', 'ERC20']).optional(),
    token: addressIn.optional(),
    calculateGasLimits: z.boolean().optional(),
    expiryDuration: z.int().min(1).max(3_155_760_000).optional(),
    sponsorshipInfo: z.looseObject({}).optional(),
    tokenInfo: z.looseObject({}).optional(),
  })
  .meta({ id: 'Mode' })

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
