import { z } from 'zod'
import { InvalidParamsError } from '../../base/errors/requestErrors.js'
import type { PolicyPreview } from '../../paymaster/sponsorship.js'
import {
  decodePaymasterParams,
  erc7677Params,
  type PaymasterRequest,
} from '../dialects/decode/paymasterRequest.js'
import { encodePreview } from '../dialects/paymasterData.js'
import { examplePaymasterParams } from './examples.js'
import { preview, willingPolicies } from '../openRpc/results.js'
import { method, simulationErrors } from './method.js'
import { chainIdOrPolicyIds, encodeWillingPolicies } from './vendors/pimlico.js'

const { operation, entryPoint, context } = erc7677Params

const examplePolicy = {
  policyId: '5c0d7f44-53b1-4b6e-8f0e-2f8a1d1c9e21',
  name: 'First ten operations',
  scope: 'app',
  pays: true,
  code: 'SPONSORED',
  message: 'It pays.',
} as const

type PreviewRequest = {
  readonly request: PaymasterRequest
  readonly draft: PaymasterRequest['draft']
  /** Ids of policies in Pimlico's form, which asks which of them would pay; undefined = our own form. */
  readonly policyIds: readonly string[] | undefined
}

/**
 * A preview asks no webhook, reserves and records nothing. [operation, entryPoint, policyIds] is the
 * form of Pimlico.
 */
export const validateSponsorshipPolicies = method({
  name: 'pm_validateSponsorshipPolicies',
  summary: 'What a sponsorship request would get now, with the verdict of each policy.',
  scope: 'paymaster',
  cost: 10,
  simulates: true,
  params: { operation, entryPoint, chainIdOrPolicyIds, context },
  errors: simulationErrors,
  decode: ({ chainIdOrPolicyIds: third, ...params }): PreviewRequest => {
    const request = decodePaymasterParams('finalize')(params)
    const policyIds = typeof third === 'number' ? undefined : third
    return { request, draft: request.draft, policyIds }
  },
  run: async ({ request, policyIds }, { chain, appId, requester }) => {
    if (request.mode === 'ERC20')
      throw new InvalidParamsError(
        'params[3].mode',
        'must be "SPONSORED": policies do not judge what users pay.',
      )
    const { mode, separateSignature, refusal, ...sponsorship } = request
    const asked = { ...sponsorship, appId, requester }
    const preview: PolicyPreview = await chain.previewSponsorship(asked)
    return { preview, policyIds }
  },
  result: z.union([preview, willingPolicies]),
  encode: ({ preview, policyIds }) =>
    policyIds === undefined ? encodePreview(preview) : encodeWillingPolicies(preview, policyIds),
  example: {
    params: examplePaymasterParams,
    outcome: {
      preview: {
        sponsored: true,
        code: 'SPONSORED',
        message: 'Would be sponsored up to 0.000261 ETH.',
        policyId: examplePolicy.policyId,
        policies: [examplePolicy],
      },
      policyIds: undefined,
    },
  },
})
