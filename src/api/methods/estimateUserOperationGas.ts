import { numberToHex } from 'viem/utils'
import type { GasEstimate } from '../../gas/gasEstimate.js'
import { encodeBigNumber, encodeNumber } from '../dialects/classic/numbers.js'
import { decodeEntryPoint } from '../dialects/decode/entryPoint.js'
import { decodeDraft } from '../dialects/decode/operation.js'
import { decodeStateOverride } from '../dialects/decode/stateOverride.js'
import { EXAMPLE_ENTRY_POINT, exampleOperationJson } from './examples/examples.js'
import { method } from './method.js'
import { simulationErrors } from './methodErrors.js'

export const estimateUserOperationGas = method({
  name: 'eth_estimateUserOperationGas',
  summary: 'Gas limits and fees with which the operation works now.',
  scope: 'bundler',
  cost: 5,
  simulates: true,
  params: ['operation', 'entryPoint', 'stateOverride?'],
  errors: simulationErrors,
  decode: ([operation, address, override], chain) => {
    const entryPoint = decodeEntryPoint(address, 'params[1]', chain)
    return {
      entryPoint,
      draft: decodeDraft(operation, 'params[0]', entryPoint.version),
      stateOverride:
        override === undefined || override === null
          ? undefined
          : decodeStateOverride(override, 'params[2]'),
    }
  },
  run: ({ entryPoint, draft, stateOverride }, { chain, appId }) =>
    chain.estimate(entryPoint, draft, stateOverride, appId),
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
    result: {
      classic: {
        callGasLimit: 36_000,
        verificationGasLimit: 60_000,
        preVerificationGas: 48_000,
        validUntil: { type: 'BigNumber', hex: '0x6b49d200' },
        validAfter: { type: 'BigNumber', hex: '0x00' },
        maxPriorityFeePerGas: '1000000',
        maxFeePerGas: '1500000000',
      },
      standard: {
        preVerificationGas: '0xbb80',
        verificationGasLimit: '0xea60',
        callGasLimit: '0x8ca0',
        maxFeePerGas: '0x59682f00',
        maxPriorityFeePerGas: '0xf4240',
      },
    },
  },
})

/** Every member is there: clients of this dialect fail on any that is null. */
function encodeClassicEstimate(estimate: GasEstimate) {
  return {
    callGasLimit: encodeNumber(estimate.callGasLimit),
    verificationGasLimit: encodeNumber(estimate.verificationGasLimit),
    preVerificationGas: encodeNumber(estimate.preVerificationGas),
    ...(estimate.paymasterVerificationGasLimit !== undefined && {
      paymasterVerificationGasLimit: encodeNumber(estimate.paymasterVerificationGasLimit),
    }),
    ...(estimate.paymasterPostOpGasLimit !== undefined && {
      paymasterPostOpGasLimit: encodeNumber(estimate.paymasterPostOpGasLimit),
    }),
    validUntil: encodeBigNumber(BigInt(estimate.validUntil)),
    validAfter: encodeBigNumber(BigInt(estimate.validAfter)),
    maxPriorityFeePerGas: estimate.maxPriorityFeePerGas.toString(),
    maxFeePerGas: estimate.maxFeePerGas.toString(),
  }
}

/** The validity bounds stay out: ERC-7769 has no such fields. */
function encodeStandardEstimate(estimate: GasEstimate) {
  return {
    preVerificationGas: numberToHex(estimate.preVerificationGas),
    verificationGasLimit: numberToHex(estimate.verificationGasLimit),
    callGasLimit: numberToHex(estimate.callGasLimit),
    ...(estimate.paymasterVerificationGasLimit !== undefined && {
      paymasterVerificationGasLimit: numberToHex(estimate.paymasterVerificationGasLimit),
    }),
    ...(estimate.paymasterPostOpGasLimit !== undefined && {
      paymasterPostOpGasLimit: numberToHex(estimate.paymasterPostOpGasLimit),
    }),
    maxFeePerGas: numberToHex(estimate.maxFeePerGas),
    maxPriorityFeePerGas: numberToHex(estimate.maxPriorityFeePerGas),
  }
}
