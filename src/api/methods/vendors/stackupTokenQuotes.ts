import type { FeeQuotes } from '../../../paymaster/tokenPayment.js'
import { decodeAddress } from '../../dialects/decode/bytes.js'
import type { DecodeContext } from '../../dialects/decode/entryPoint.js'
import { member } from '../../dialects/decode/members.js'
import {
  EXAMPLE_CHAIN_ID,
  EXAMPLE_ENTRY_POINT,
  EXAMPLE_TANK,
  exampleOperationJson,
} from '../examples/examples.js'
import { exampleToken } from '../examples/exampleToken.js'
import { method } from '../method.js'
import { paymasterErrors } from '../methodErrors.js'
import { decodeZeroDevRequest } from './zeroDevRequest.js'

/** The price that ZeroDev's paymaster client shows (`estimateGasInERC20`), under Stackup's name. */
export const stackupTokenQuotes = method({
  name: 'stackup_getERC20TokenQuotes',
  summary: 'The most that the gas of an operation costs in one token.',
  scope: 'paymaster',
  cost: 10,
  simulates: true,
  params: ['request'],
  errors: paymasterErrors,
  decode: (params, chain: DecodeContext) => {
    const { fields, entryPoint, draft } = decodeZeroDevRequest(params, chain)
    const token = decodeAddress(member(fields, 'tokenAddress'), 'params[0].tokenAddress')
    return { entryPoint, draft, calculateGasLimits: false, tokens: [token] }
  },
  run: (request, { chain, appId }) => chain.tokens.quote({ ...request, appId }),
  encode: { both: encodeCost },
  example: {
    params: [
      {
        chainId: EXAMPLE_CHAIN_ID,
        userOp: exampleOperationJson,
        entryPointAddress: EXAMPLE_ENTRY_POINT,
        tokenAddress: exampleToken.address,
      },
    ],
    outcome: {
      paymaster: EXAMPLE_TANK,
      quotes: [
        {
          token: exampleToken,
          maxCharge: 820_000n,
          rate: 3_000_000_000n,
          validUntil: 1_800_000_000,
        },
      ],
      unsupported: [],
      nativePrice: undefined,
    },
    result: { both: { maxGasCostToken: '820000', tokenDecimals: '6' } },
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
