import { getAddress } from 'viem/utils'
import { z } from 'zod'
import type { FeeQuotes } from '../../../paymaster/tokenPayment.js'
import { entryPoint } from '../../dialects/decode/entryPoint.js'
import { address, objectOf } from '../../dialects/decode/values.js'
import { address as addressOut, decimal } from '../../openRpc/parts.js'
import {
  EXAMPLE_CHAIN_ID,
  EXAMPLE_ENTRY_POINT,
  EXAMPLE_TANK,
  exampleOperationJson,
  exampleQuotes,
  exampleToken,
} from '../examples.js'
import { method, simulationErrors } from '../method.js'
import { draftOf, zeroDevMembers } from './zeroDev.js'

/** The price that ZeroDev's paymaster client shows (`estimateGasInERC20`), under Stackup's name. */
export const stackupTokenQuotes = method({
  name: 'stackup_getERC20TokenQuotes',
  summary: 'The most that the gas of an operation costs in one token.',
  scope: 'paymaster',
  cost: 10,
  simulates: true,
  params: { request: objectOf({ ...zeroDevMembers, tokenAddress: address }) },
  errors: simulationErrors,
  decode: ({ request }) => ({
    entryPoint: request.entryPointAddress,
    draft: draftOf(request),
    calculateGasLimits: false,
    tokens: [request.tokenAddress],
  }),
  run: (request, { chain, appId, requester }) =>
    chain.tokens.quote({ ...request, appId, requester }),
  result: z.object({ maxGasCostToken: decimal, tokenDecimals: decimal }),
  encode: encodeCost,
  example: {
    params: [
      {
        chainId: EXAMPLE_CHAIN_ID,
        userOp: exampleOperationJson,
        entryPointAddress: EXAMPLE_ENTRY_POINT,
        tokenAddress: exampleToken.address,
      },
    ],
    outcome: exampleQuotes,
  },
})

/** Decimal text: smallest units of the token, and its decimals. */
function encodeCost({ quotes }: FeeQuotes) {
  return quotes
    .map(({ token, maxCharge }) => ({
      maxGasCostToken: maxCharge.toString(),
      tokenDecimals: token.decimals.toString(),
    }))
    .at(0)
}

/** Asked by clients of Stackup, to approve or to recognize a paymaster. */
export const paymasterAccounts = method({
  name: 'pm_accounts',
  summary: 'The paymasters that would sign: the sponsoring one, then the ERC-20 one.',
  scope: 'paymaster',
  params: { entryPoint },
  run: ({ entryPoint }, { chain, appId }) => chain.tanks(appId, entryPoint),
  result: z.array(addressOut),
  encode: (tanks) => tanks.map((tank) => getAddress(tank)),
  example: {
    params: [EXAMPLE_ENTRY_POINT],
    outcome: [EXAMPLE_TANK],
  },
})
