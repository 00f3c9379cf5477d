import { z } from 'zod'
import { smallest } from '../../../base/bigints.js'
import { InvalidParamsError } from '../../../base/errors/requestErrors.js'
import type { Draft } from '../../../erc4337/draft.js'
import type { EntryPoint } from '../../../erc4337/entryPoint.js'
import { withPaymaster } from '../../../paymaster/sponsoredDraft.js'
import type { SponsorshipRequest } from '../../../paymaster/sponsorship.js'
import { entryPoint } from '../../dialects/decode/entryPoint.js'
import { decodePartialOperation, partialOperation } from '../../dialects/decode/operation.js'
import { decodePolicyIds } from '../../dialects/decode/paymasterRequest.js'
import {
  bytes,
  decodeObject,
  type Input,
  MAX_PROOF_BYTES,
  type Members,
  member,
  objectOf,
  optional,
  text,
} from '../../dialects/decode/values.js'
import { paymasterAndFees } from '../../openRpc/results.js'
import { encodePaymasterAndFees } from '../../dialects/paymasterData.js'
import { EXAMPLE_ENTRY_POINT, exampleOperationJson, exampleSponsorship } from '../examples.js'
import { requestSponsorship } from '../getPaymasterData.js'
import { type MethodContext, method, simulationErrors } from '../method.js'

type AlchemyRequest = {
  readonly entryPoint: EntryPoint
  readonly draft: Draft
  readonly multipliers: Multipliers
  readonly webhookData: SponsorshipRequest['webhookData']
  readonly policyIds: SponsorshipRequest['policyIds']
}

const untaken: Input<undefined> = {
  json: z.never().optional(),
  decode: (value, field) => {
    if (value === undefined) return undefined
    const reason = 'is not taken here: pay in tokens by ERC-7677 with the context {"token": "0x…"}.'
    throw new InvalidParamsError(field, reason)
  },
}

const overrides: Input<AlchemyOverrides> = {
  json: z.looseObject({}).nullable().optional(),
  decode: decodeOverrides,
}

const chosenPolicies: Input<readonly string[] | undefined> = {
  json: z.string().or(z.array(z.string())).optional(),
  decode: (value) => decodePolicyIds({ policyId: value }, 'params[0]'),
}

/**
 * What Alchemy's client asks once per operation: fees, limits and paymaster together. Its multipliers
 * are applied before the tank signs.
 */
export const alchemySponsor = method({
  name: 'alchemy_requestGasAndPaymasterAndData',
  summary: 'Fees, limits and paymaster data, signed by a tank that sponsors the gas.',
  scope: 'paymaster',
  cost: 10,
  simulates: true,
  params: {
    request: objectOf({
      erc20Context: untaken,
      entryPoint,
      userOperation: partialOperation,
      dummySignature: optional(bytes(MAX_PROOF_BYTES)),
      overrides,
      webhookData: optional(text()),
      policyId: chosenPolicies,
    }),
  },
  errors: simulationErrors,
  decode: ({ request }): AlchemyRequest => {
    const { entryPoint, dummySignature, webhookData } = request
    const { absolute, multipliers } = request.overrides
    const operation = decodeObject(request.userOperation, 'params[0].userOperation')
    const signature = dummySignature ?? member(operation, 'signature')
    const filled = { ...operation, ...absolute, signature }
    return {
      entryPoint,
      draft: decodePartialOperation(filled, 'params[0].userOperation', entryPoint.version),
      multipliers,
      // The text goes to the app's webhooks as a member of that name.
      webhookData: webhookData === undefined ? undefined : { webhookData },
      policyIds: request.policyId,
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
  result: paymasterAndFees,
  encode: encodePaymasterAndFees,
  example: {
    params: [
      {
        policyId: 'shop',
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
  },
})

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
  request: Omit<SponsorshipRequest, 'appId' | 'requester'>,
  multipliers: Multipliers,
  { chain, appId, requester }: MethodContext,
): Promise<Pick<Draft, (typeof limitNames)[number]> | undefined> {
  const { entryPoint, draft } = request
  const hasSay = limitNames.some((name) => (draft[name] ?? multipliers[name]) !== undefined)
  const isMissing = limitNames.some((name) => draft[name] === undefined)
  if (!hasSay || !isMissing) return undefined
  const stub = await chain.stub({ ...request, appId, requester, webhookData: undefined })
  const stubbed = withPaymaster(draft, stub)
  const estimate = await chain.estimate(entryPoint, stubbed, { appId, requester })
  const limit = (name: (typeof limitNames)[number]) =>
    draft[name] ?? multiplied(estimate[name], multipliers[name])
  return {
    callGasLimit: limit('callGasLimit'),
    verificationGasLimit: limit('verificationGasLimit'),
    preVerificationGas: limit('preVerificationGas'),
  }
}

/** The fields of an operation that a client may set, or have multiplied, before the paymaster signs. */
const overridable = [
  'callGasLimit',
  'verificationGasLimit',
  'preVerificationGas',
  'maxFeePerGas',
  'maxPriorityFeePerGas',
] as const

type Overridable = (typeof overridable)[number]

/** Millionths by which an estimate is multiplied. */
type Multipliers = { readonly [Field in Overridable]?: bigint }

const MILLION = 1_000_000
/** Nothing above it is meant: the default of Alchemy's client is 1.5. */
const MAX_MULTIPLIER = 10

type AlchemyOverrides = {
  /** Quantities as the client wrote them, to be decoded with the operation. */
  readonly absolute: Members
  readonly multipliers: Multipliers
}

/** `{maxFeePerGas: "0x…" | {multiplier: 1.5}, …}` */
export function decodeOverrides(value: unknown, field: string): AlchemyOverrides {
  if (value === undefined || value === null) return { absolute: {}, multipliers: {} }
  const overrides = decodeObject(value, field)
  const named = overridable
    .map((name) => [name, member(overrides, name)] as const)
    .filter(([, override]) => override !== undefined)
  return {
    absolute: Object.fromEntries(named.filter(([, override]) => typeof override !== 'object')),
    multipliers: Object.fromEntries(
      named
        .filter(([, override]) => typeof override === 'object')
        .map(([name, override]) => [name, decodeMultiplier(override, `${field}.${name}`)]),
    ),
  }
}

/** `quantity` times the multiplier of a field, rounded up; as it is where the field has none. */
export function multiplied(quantity: bigint, multiplier: bigint | undefined): bigint {
  if (multiplier === undefined) return quantity
  return (quantity * multiplier + BigInt(MILLION) - 1n) / BigInt(MILLION)
}

function decodeMultiplier(value: unknown, field: string): bigint {
  const multiplier = member(decodeObject(value, field), 'multiplier')
  if (typeof multiplier !== 'number' || !(multiplier > 0 && multiplier <= MAX_MULTIPLIER))
    throw new InvalidParamsError(
      `${field}.multiplier`,
      `must be a number above 0, at most ${MAX_MULTIPLIER}.`,
    )
  return BigInt(Math.round(multiplier * MILLION))
}
