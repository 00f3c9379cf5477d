import { InvalidParamsError } from '../../errors/requestErrors.js'
import { decodePaymasterParams } from '../dialects/decode/paymasterRequest.js'
import { encodePreview } from '../dialects/paymasterData.js'
import { examplePaymasterParams } from './examples/examples.js'
import { method } from './method.js'
import { paymasterErrors } from './methodErrors.js'

const examplePolicy = {
  policyId: '5c0d7f44-53b1-4b6e-8f0e-2f8a1d1c9e21',
  name: 'First ten operations',
  scope: 'app',
  pays: true,
  code: 'SPONSORED',
  message: 'It pays.',
} as const

/** A preview asks no webhook, reserves and records nothing. */
export const validateSponsorshipPolicies = method({
  name: 'pm_validateSponsorshipPolicies',
  summary: 'The decision that a sponsorship would get now, and the verdict of each policy.',
  scope: 'paymaster',
  cost: 10,
  simulates: true,
  params: ['operation', 'entryPoint', 'chainId', 'context?'],
  errors: paymasterErrors,
  decode: decodePaymasterParams('finalize'),
  run: async (request, { chain, appId }) => {
    if (request.mode === 'ERC20')
      throw new InvalidParamsError(
        'params[3].mode',
        'must be "SPONSORED": policies do not judge what users pay.',
      )
    const { mode, separateSignature, refusal, ...sponsorship } = request
    return chain.previewSponsorship({ ...sponsorship, appId })
  },
  encode: { both: encodePreview },
  example: {
    params: examplePaymasterParams,
    outcome: {
      sponsored: true,
      code: 'SPONSORED',
      message: 'Would be sponsored up to 261000000000000 wei.',
      policyId: examplePolicy.policyId,
      policies: [examplePolicy],
    },
    result: {
      both: {
        sponsored: true,
        code: 'SPONSORED',
        message: 'Would be sponsored up to 261000000000000 wei.',
        policyId: examplePolicy.policyId,
        policies: [examplePolicy],
      },
    },
  },
})
