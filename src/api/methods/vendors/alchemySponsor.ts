import { smallest } from '../../../base/bigints.js'
import type { Draft } from '../../../entrypoint/draft.js'
import type { EntryPoint } from '../../../entrypoint/entryPoint.js'
import { InvalidParamsError } from '../../../errors/requestErrors.js'
import { withPaymaster } from '../../../paymaster/sponsoredDraft.js'
import type { SponsorshipRequest } from '../../../paymaster/sponsorship.js'
import { type DecodeContext, decodeEntryPoint } from '../../dialects/decode/entryPoint.js'
import { decodeObject, type Members, member } from '../../dialects/decode/members.js'
import { decodePartialOperation } from '../../dialects/decode/operation.js'
import { encodePaymasterAndFees } from '../../dialects/paymasterData.js'
import { exampleSponsorship } from '../examples/exampleSponsorship.js'
import {
  EXAMPLE_ENTRY_POINT,
  EXAMPLE_TANK,
  exampleOperationJson,
  exampleSponsored,
} from '../examples/examples.js'
import { type MethodContext, method } from '../method.js'
import { paymasterErrors } from '../methodErrors.js'
import { requestSponsorship } from '../requestPaymaster.js'
import { decodeOverrides, type Multipliers, multiplied } from './alchemyOverrides.js'

type AlchemyRequest = {
  readonly entryPoint: EntryPoint
  readonly draft: Draft
  readonly multipliers: Multipliers
  readonly webhookData: SponsorshipRequest['webhookData']
}

/**
 * What Alchemy's client asks once per operation: fees, limits and paymaster together. Its multipliers
 * are applied before the tank signs. A policy is chosen by the app's own, whatever `policyId` says.
 */
export const alchemySponsor = method({
  name: 'alchemy_requestGasAndPaymasterAndData',
  summary: 'Fees, limits and paymaster data, signed by a tank that gives the gas.',
  scope: 'paymaster',
  cost: 10,
  simulates: true,
  params: ['request'],
  errors: paymasterErrors,
  decode: ([request], chain: DecodeContext): AlchemyRequest => {
    const fields = decodeObject(request, 'params[0]')
    const path = (name: string): string => `params[0].${name}`
    if (member(fields, 'erc20Context') !== undefined)
      throw new InvalidParamsError(
        path('erc20Context'),
        'is not taken here: pay in tokens by ERC-7677 with the context {"token": "0x…"}.',
      )
    const entryPoint = decodeEntryPoint(member(fields, 'entryPoint'), path('entryPoint'), chain)
    const { absolute, multipliers } = decodeOverrides(
      member(fields, 'overrides'),
      path('overrides'),
    )
    const userOperation = decodeObject(member(fields, 'userOperation'), path('userOperation'))
    const signature = member(fields, 'dummySignature') ?? member(userOperation, 'signature')
    const filled = { ...userOperation, ...absolute, signature }
    return {
      entryPoint,
      draft: decodePartialOperation(filled, path('userOperation'), entryPoint.version),
      multipliers,
      webhookData: decodeWebhookText(fields),
    }
  },
  run: async ({ multipliers, ...request }, context) => {
    const draft = await withFees(request.draft, multipliers, context)
    const sponsorship = {
      ...request,
      calculateGasLimits: false,
      expiryDuration: undefined,
      signingPhase: undefined,
    }
    const limits = await limitsOf({ ...sponsorship, draft }, multipliers, context)
    return requestSponsorship(
      {
        ...sponsorship,
        draft: { ...draft, ...limits },
        mode: 'SPONSORED',
        separateSignature: false,
        refusal: 'error',
      },
      context,
    )
  },
  encode: { both: encodePaymasterAndFees },
  example: {
    params: [
      {
        policyId: '8a1c2e5f-0000-4000-8000-000000000000',
        entryPoint: EXAMPLE_ENTRY_POINT,
        userOperation: {
          sender: exampleOperationJson.sender,
          nonce: exampleOperationJson.nonce,
          callData: exampleOperationJson.callData,
        },
        dummySignature: exampleOperationJson.signature,
        overrides: { maxFeePerGas: { multiplier: 1.5 }, callGasLimit: '0x8ca0' },
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

/** The text goes to the app's webhooks as a member of that name. */
function decodeWebhookText(fields: Members): { readonly webhookData: string } | undefined {
  const webhookData = member(fields, 'webhookData')
  if (webhookData === undefined) return undefined
  if (typeof webhookData !== 'string')
    throw new InvalidParamsError('params[0].webhookData', 'must be a string.')
  return { webhookData }
}

async function withFees(
  draft: Draft,
  multipliers: Multipliers,
  { chain, appId }: MethodContext,
): Promise<Draft> {
  const { standard } = await chain.fees(appId)
  const fee = (name: 'maxFeePerGas' | 'maxPriorityFeePerGas') =>
    draft[name] ?? multiplied(standard[name], multipliers[name])
  const maxFeePerGas = fee('maxFeePerGas')
  const maxPriorityFeePerGas = smallest(fee('maxPriorityFeePerGas'), maxFeePerGas)
  return { ...draft, maxFeePerGas, maxPriorityFeePerGas }
}

const limitNames = ['callGasLimit', 'verificationGasLimit', 'preVerificationGas'] as const

/**
 * The limits to sign where the client has a say in some: its own, else the estimate with the tank in
 * place, multiplied. Undefined = it leaves all to the paymaster.
 */
async function limitsOf(
  request: Omit<SponsorshipRequest, 'appId'>,
  multipliers: Multipliers,
  { chain, appId }: MethodContext,
): Promise<Pick<Draft, (typeof limitNames)[number]> | undefined> {
  const { entryPoint, draft } = request
  const hasSay = limitNames.some((name) => (draft[name] ?? multipliers[name]) !== undefined)
  const isMissing = limitNames.some((name) => draft[name] === undefined)
  if (!hasSay || !isMissing) return undefined
  const stub = await chain.stub({ ...request, appId, webhookData: undefined })
  const estimate = await chain.estimate(entryPoint, withPaymaster(draft, stub), undefined, appId)
  const limit = (name: (typeof limitNames)[number]) =>
    draft[name] ?? multiplied(estimate[name], multipliers[name])
  return {
    callGasLimit: limit('callGasLimit'),
    verificationGasLimit: limit('verificationGasLimit'),
    preVerificationGas: limit('preVerificationGas'),
  }
}
