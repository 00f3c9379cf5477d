import { InvalidParamsError } from '../../../errors/requestErrors.js'
import type { DecodeContext } from '../../dialects/decode/entryPoint.js'
import { decodeObject, type Members, member } from '../../dialects/decode/members.js'
import { decodeContext } from '../../dialects/decode/mode.js'
import type { PaymasterRequest } from '../../dialects/decode/paymasterRequest.js'
import { encodePaymasterAndFees } from '../../dialects/paymasterData.js'
import { exampleSponsorship } from '../examples/exampleSponsorship.js'
import {
  EXAMPLE_CHAIN_ID,
  EXAMPLE_ENTRY_POINT,
  EXAMPLE_TANK,
  exampleOperationJson,
  exampleSponsored,
} from '../examples/examples.js'
import { method } from '../method.js'
import { paymasterErrors } from '../methodErrors.js'
import { requestPaymaster } from '../requestPaymaster.js'
import { decodeZeroDevRequest, decodeZeroDevToken } from './zeroDevRequest.js'

/**
 * What ZeroDev's paymaster client asks. Limits are estimated, as there, unless `manualGasEstimation` is
 * set; `shouldOverrideFee` leaves the fees to us; `gasTokenData` names a token to pay with.
 */
export const zeroDevSponsor = method({
  name: 'zd_sponsorUserOperation',
  summary: 'Paymaster data, limits and fees, signed by a tank that gives the gas or takes tokens.',
  scope: 'paymaster',
  cost: 10,
  simulates: true,
  params: ['request'],
  errors: paymasterErrors,
  decode: (params, chain: DecodeContext): PaymasterRequest => {
    const { fields, entryPoint, draft } = decodeZeroDevRequest(params, chain)
    const mode = decodeContext(
      { calculateGasLimits: !decodeFlag(fields, 'manualGasEstimation'), ...decodePayer(fields) },
      'params[0]',
    )
    const fees = decodeFlag(fields, 'shouldOverrideFee')
      ? { maxFeePerGas: undefined, maxPriorityFeePerGas: undefined }
      : {}
    const request = { entryPoint, draft: { ...draft, ...fees } }
    return mode.mode === 'ERC20'
      ? { ...mode, ...request }
      : { ...mode, ...request, refusal: 'error' }
  },
  run: requestPaymaster,
  encode: { both: encodePaymasterAndFees },
  example: {
    params: [
      {
        chainId: EXAMPLE_CHAIN_ID,
        userOp: exampleOperationJson,
        entryPointAddress: EXAMPLE_ENTRY_POINT,
        shouldOverrideFee: false,
        shouldConsume: true,
      },
    ],
    outcome: exampleSponsorship,
    result: {
      both: {
        paymaster: EXAMPLE_TANK,
        paymasterData: exampleSponsored.paymasterData,
        paymasterVerificationGasLimit: '0x7530',
        paymasterPostOpGasLimit: '0x1',
        callGasLimit: '0x8ca0',
        verificationGasLimit: '0xea60',
        preVerificationGas: '0xbb80',
        maxFeePerGas: '0x59682f00',
        maxPriorityFeePerGas: '0xf4240',
      },
    },
  },
})

function decodePayer(fields: Members): { readonly token?: string } {
  const data = member(fields, 'gasTokenData')
  if (data === undefined || data === false) return {}
  const field = 'params[0].gasTokenData'
  const token = decodeZeroDevToken(decodeObject(data, field), field)
  return token === undefined ? {} : { token }
}

function decodeFlag(fields: Members, name: string): boolean {
  const value = member(fields, name) ?? false
  if (typeof value !== 'boolean')
    throw new InvalidParamsError(`params[0].${name}`, 'must be true or false.')
  return value
}
