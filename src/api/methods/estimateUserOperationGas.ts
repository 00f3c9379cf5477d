import { numberToHex } from 'viem/utils'
import { z } from 'zod'
import type { GasEstimate } from '../../gas/estimateOperation.js'
import { encodeBigNumber, encodeNumber } from '../dialects/classic.js'
import { entryPoint } from '../dialects/decode/entryPoint.js'
import { decodeDraft, partialOperation } from '../dialects/decode/operation.js'
import { stateOverride } from '../dialects/decode/stateOverride.js'
import { classicNumber, decimalFees, hexFees, hexQuantity, bytes } from '../openRpc/parts.js'
import { encodeHexFees, encodeLimits } from '../dialects/operationFields.js'
import { EXAMPLE_ENTRY_POINT, exampleOperationJson } from './examples.js'
import { method, simulationErrors } from './method.js'

const bigNumber = z.object({ type: z.literal('BigNumber'), hex: bytes })
function estimateLimits(quantity: z.ZodType) {
  return {
    callGasLimit: quantity,
    verificationGasLimit: quantity,
    preVerificationGas: quantity,
    paymasterVerificationGasLimit: quantity.optional(),
    paymasterPostOpGasLimit: quantity.optional(),
  }
}
export const estimateUserOperationGas = method({
  name: 'eth_estimateUserOperationGas',
  summary: 'Gas limits and fees with which the operation works now.',
  scope: 'bundler',
  cost: 5,
  simulates: true,
  params: { operation: partialOperation, entryPoint, stateOverride },
  errors: simulationErrors,
  decode: ({ operation, entryPoint, stateOverride }) => ({
    entryPoint,
    draft: decodeDraft(operation, 'params[0]', entryPoint.version),
    stateOverride,
  }),
  run: ({ entryPoint, draft, stateOverride: override }, { chain, appId, requester }) =>
    chain.estimate(entryPoint, draft, { override, appId, requester }),
  result: {
    classic: z.object({
      ...estimateLimits(classicNumber),
      validUntil: bigNumber,
      validAfter: bigNumber,
      ...decimalFees,
    }),
    standard: z.object({ ...estimateLimits(hexQuantity), ...hexFees }),
  },
  encode: { classic: encodeClassicEstimate, standard: encodeStandardEstimate },
  example: {
    params: [
      { ...exampleOperationJson, callGasLimit: '0x0' },
      EXAMPLE_ENTRY_POINT,
      { [exampleOperationJson.sender]: { balance: '0xde0b6b3a7640000' } },
    ],
    outcome: {
      callGasLimit: 36_000n,
      verificationGasLimit: 60_000n,
      preVerificationGas: 48_000n,
      paymasterVerificationGasLimit: undefined,
      paymasterPostOpGasLimit: undefined,
      maxFeePerGas: 1_500_000_000n,
      maxPriorityFeePerGas: 1_000_000n,
      validAfter: 0,
      validUntil: 1_800_000_000,
    },
  },
})

/** Every member is there: clients of this dialect fail on any that is null. */
function encodeClassicEstimate(estimate: GasEstimate) {
  return {
    ...encodeEstimate(estimate, encodeNumber),
    validUntil: encodeBigNumber(BigInt(estimate.validUntil)),
    validAfter: encodeBigNumber(BigInt(estimate.validAfter)),
    maxPriorityFeePerGas: estimate.maxPriorityFeePerGas.toString(),
    maxFeePerGas: estimate.maxFeePerGas.toString(),
  }
}

/** The validity bounds stay out: ERC-7769 has no such fields. */
function encodeStandardEstimate(estimate: GasEstimate) {
  return { ...encodeEstimate(estimate, numberToHex), ...encodeHexFees(estimate) }
}

/** The limits; those of a paymaster where there is one. */
function encodeEstimate(estimate: GasEstimate, encode: (gas: bigint) => number | string) {
  const { paymasterVerificationGasLimit: verification, paymasterPostOpGasLimit: postOp } = estimate
  return {
    ...encodeLimits(estimate, encode),
    ...(verification !== undefined && { paymasterVerificationGasLimit: encode(verification) }),
    ...(postOp !== undefined && { paymasterPostOpGasLimit: encode(postOp) }),
  }
}
