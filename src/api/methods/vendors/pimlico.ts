import { getAddress, numberToHex } from 'viem/utils'
import { z } from 'zod'
import type { OperationStatus } from '../../../bundler/operationViews.js'
import type { PolicyPreview } from '../../../paymaster/sponsorship.js'
import type { TokenRate } from '../../../paymaster/tokenPayment.js'
import { chainId, entryPoint } from '../../dialects/decode/entryPoint.js'
import {
  address,
  type Input,
  listOf,
  objectOf,
  text,
  userOpHash,
} from '../../dialects/decode/values.js'
import { address as addressOut, hexQuantity, word } from '../../openRpc/parts.js'
import { EXAMPLE_ENTRY_POINT, EXAMPLE_HASH, exampleRate, exampleToken } from '../examples.js'
import { method } from '../method.js'

const MAX_TOKENS = 100

/** Rates by which permissionless computes the approval of its ERC-20 flow. */
export const pimlicoTokenQuotes = method({
  name: 'pimlico_getTokenQuotes',
  summary: 'Rates by which tokens pay for gas, and the paymaster to approve.',
  scope: 'paymaster',
  cost: 5,
  params: { tokens: objectOf({ tokens: listOf(address, MAX_TOKENS) }), entryPoint, chainId },
  errors: [-32501],
  run: ({ tokens: { tokens }, entryPoint }, { chain, appId }) =>
    chain.tokens.rates({ tokens, entryPoint, appId }),
  result: z.object({
    quotes: z.array(
      z.object({
        paymaster: addressOut,
        token: addressOut,
        postOpGas: hexQuantity,
        exchangeRate: hexQuantity,
        exchangeRateNativeToUsd: hexQuantity,
      }),
    ),
  }),
  encode: ({ rates, nativePrice = 0n }) => ({
    quotes: rates.map((rate) => encodeRate(rate, nativePrice)),
  }),
  example: {
    params: [{ tokens: [exampleToken.address] }, EXAMPLE_ENTRY_POINT, '0xa'],
    outcome: {
      rates: [exampleRate],
      nativePrice: 3_000_000_000n,
    },
  },
})

/**
 * Clients approve (limits + postOpGas) · maxFeePerGas · exchangeRate / 10^18. The USD (6 decimals) of a
 * coin is a number to them: 0 where no price is configured. Slots for overrides stay out: we do
 * not know where a token stores its balances.
 */
function encodeRate({ token, paymaster, markedUpRate, extraGas }: TokenRate, nativePrice: bigint) {
  return {
    paymaster: getAddress(paymaster),
    token: getAddress(token.address),
    postOpGas: numberToHex(extraGas),
    exchangeRate: numberToHex(markedUpRate),
    exchangeRateNativeToUsd: numberToHex(nativePrice),
  }
}

/**
 * Our states in the words of Pimlico. `reverted`: the bundles with the operation failed as a whole. An
 * operation whose own call reverted is `included`.
 */
const words: Readonly<Record<OperationStatus['state'], string>> = {
  BUNDLER_MEMPOOL: 'not_submitted',
  SUBMITTED: 'submitted',
  CONFIRMED: 'included',
  FAILED: 'reverted',
  DROPPED_FROM_BUNDLER_MEMPOOL: 'rejected',
}

/** An unknown operation is a status like any other. */
export const pimlicoStatus = method({
  name: 'pimlico_getUserOperationStatus',
  summary: 'The state of an operation in one word, with its transaction.',
  scope: 'bundler',
  params: { userOpHash },
  run: ({ userOpHash }, { chain }) => chain.status(userOpHash),
  result: z.object({
    status: z.enum(['not_found', ...Object.values(words)]),
    transactionHash: word.nullable(),
  }),
  encode: (status) => ({
    status: status === undefined ? 'not_found' : words[status.state],
    transactionHash: status?.transactionHash ?? null,
  }),
  example: {
    params: [EXAMPLE_HASH],
    outcome: undefined,
  },
})

const MAX_POLICIES = 100
const MAX_ID_LENGTH = 200

const policyIds = listOf(text(MAX_ID_LENGTH), MAX_POLICIES)

/** The ids in Pimlico's form of a preview; else the chain id, as in ERC-7677. */
export const chainIdOrPolicyIds: Input<number | readonly string[]> = {
  json: z.union([chainId.json, policyIds.json]),
  decode: (value, field, chain) =>
    (Array.isArray(value) ? policyIds : chainId).decode(value, field, chain),
}

/** Those of the named policies that would pay; an id that is none of the app's is not among them. */
export function encodeWillingPolicies(
  { sponsored, policies }: PolicyPreview,
  policyIds: readonly string[],
) {
  return policies
    .filter(({ policyId, name, pays }) => {
      const isNamed = policyIds.includes(policyId) || policyIds.includes(name)
      return sponsored && pays && isNamed
    })
    .map(({ policyId, name }) => ({
      sponsorshipPolicyId: policyId,
      data: { name, author: null, icon: null, description: null },
    }))
}
