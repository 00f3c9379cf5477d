import { decodePaymasterParams } from '../dialects/decode/paymasterRequest.js'
import { encodePaymasterData } from '../dialects/paymasterData.js'
import { exampleSponsorship } from './examples/exampleSponsorship.js'
import { EXAMPLE_TANK, examplePaymasterParams, exampleSponsored } from './examples/examples.js'
import { method } from './method.js'
import { paymasterErrors } from './methodErrors.js'
import { requestPaymaster } from './requestPaymaster.js'

export const getPaymasterData = method({
  name: 'pm_getPaymasterData',
  summary: 'Paymaster data, signed, with the gas limits that it was signed for (ERC-7677).',
  scope: 'paymaster',
  cost: 10,
  simulates: true,
  params: ['operation', 'entryPoint', 'chainId', 'context?'],
  errors: paymasterErrors,
  decode: decodePaymasterParams('finalize'),
  run: requestPaymaster,
  encode: { both: encodePaymasterData },
  example: {
    params: examplePaymasterParams,
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
      },
    },
  },
})
