import type { PurserError } from '../../base/errors/purserError.js'
import { SponsorshipRefusedError } from '../../base/errors/sponsorshipErrors.js'
import type { Draft } from '../../erc4337/draft.js'
import {
  decodePaymasterParams,
  erc7677Params,
  type PaymasterRequest,
  type SponsoredMode,
} from '../dialects/decode/paymasterRequest.js'
import {
  encodeAskedData,
  encodeStub,
  type PaymasterAnswer,
  type QuotesAnswer,
  type VersionedSponsorship,
  type VersionedStub,
} from '../dialects/paymasterData.js'
import {
  EXAMPLE_TANK,
  examplePaymasterParams,
  exampleSponsored,
  exampleSponsorship,
} from './examples.js'
import { paymasterData, stub } from '../openRpc/results.js'
import { type MethodContext, method, simulationErrors } from './method.js'

export const getPaymasterData = method({
  name: 'pm_getPaymasterData',
  summary:
    'Signed paymaster data, with the gas limits that it was signed for if they differ (ERC-7677).',
  scope: 'paymaster',
  cost: 10,
  simulates: true,
  params: erc7677Params,
  errors: simulationErrors,
  decode: decodePaymasterParams('finalize'),
  run: async (request, context): Promise<PaymasterAnswer & { readonly given?: Draft }> => ({
    ...(await requestPaymaster(request, context)),
    given: request.draft,
  }),
  result: paymasterData,
  encode: encodeAskedData,
  example: {
    params: examplePaymasterParams,
    outcome: exampleSponsorship,
  },
})

/** No webhook is asked for a stub. */
export const getPaymasterStubData = method({
  name: 'pm_getPaymasterStubData',
  summary: 'Paymaster data of the final length, to estimate with (ERC-7677).',
  scope: 'paymaster',
  params: erc7677Params,
  errors: simulationErrors,
  decode: decodePaymasterParams('commit'),
  run: async (request, { chain, appId, requester, sponsorOf }): Promise<VersionedStub> => {
    const { version } = request.entryPoint
    if (request.mode === 'ERC20') {
      const payer = await chain.tokens.stub({ ...request, appId, requester })
      return { payer, version, separateSignature: false, isFinal: false, sponsor: undefined }
    }
    const { mode, separateSignature, refusal, ...sponsorship } = request
    const [payer, sponsor] = await Promise.all([
      chain.stub({ ...sponsorship, appId, requester, webhookData: undefined }),
      sponsorOf(appId),
    ])
    const isFinal = request.signingPhase === 'commit'
    return { payer, version, separateSignature, isFinal, sponsor }
  },
  result: stub,
  encode: encodeStub,
  example: {
    params: examplePaymasterParams,
    outcome: {
      payer: {
        paymaster: EXAMPLE_TANK,
        paymasterData: exampleSponsored.paymasterData,
        paymasterVerificationGasLimit: 30_000n,
        paymasterPostOpGasLimit: 1n,
      },
      version: '0.7',
      separateSignature: false,
      isFinal: false,
      sponsor: { name: 'Shop', icon: 'https://shop.example/icon.png' },
    },
  },
})

/** Data signed by a tank, which gives the gas or takes tokens for it. */
export async function requestPaymaster(
  request: PaymasterRequest,
  context: MethodContext,
): Promise<PaymasterAnswer> {
  if (request.mode === 'SPONSORED') return requestSponsorship(request, context)
  const { chain, appId, requester } = context
  const payment = await chain.tokens.pay({ ...request, appId, requester })
  const { version } = request.entryPoint
  return { mode: 'ERC20', ...payment, version, separateSignature: false }
}

/**
 * A refusal is a result in the interface's own form. Everywhere else throws SponsorshipRefusedError:
 * clients there know none, and would sign an operation without a paymaster or fail on a missing field.
 */
export async function requestSponsorship(
  request: SponsoredMode,
  { chain, appId, requester }: MethodContext,
): Promise<VersionedSponsorship> {
  const { mode, separateSignature, refusal, ...sponsorship } = request
  const result = await chain.sponsor({ ...sponsorship, appId, requester })
  if (refusal === 'error' && !result.decision.sponsored)
    throw new SponsorshipRefusedError(result.decision)
  return { ...result, mode, version: request.entryPoint.version, separateSignature }
}

/** The error that a sponsorship refused by a result would be elsewhere. */
export function refusalOf(answer: PaymasterAnswer | QuotesAnswer): PurserError | undefined {
  return answer.mode !== 'SPONSORED' || answer.decision.sponsored
    ? undefined
    : new SponsorshipRefusedError(answer.decision)
}
