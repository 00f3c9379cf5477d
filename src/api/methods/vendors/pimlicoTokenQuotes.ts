import { getAddress, numberToHex } from 'viem/utils'
import type { TokenRate } from '../../../paymaster/tokenPayment.js'
import { decodeAddress } from '../../dialects/decode/bytes.js'
import { requireChainId } from '../../dialects/decode/chainId.js'
import { type DecodeContext, decodeEntryPoint } from '../../dialects/decode/entryPoint.js'
import { decodeBoundedList } from '../../dialects/decode/list.js'
import { decodeObject, member } from '../../dialects/decode/members.js'
import { EXAMPLE_ENTRY_POINT, EXAMPLE_TANK } from '../examples/examples.js'
import { exampleToken } from '../examples/exampleToken.js'
import { method } from '../method.js'

const MAX_TOKENS = 100

/** Rates by which permissionless computes the approval of its ERC-20 flow. */
export const pimlicoTokenQuotes = method({
  name: 'pimlico_getTokenQuotes',
  summary: 'Rates by which tokens pay for gas, and the paymaster to approve.',
  scope: 'paymaster',
  cost: 5,
  simulates: false,
  params: ['tokens', 'entryPoint', 'chainId'],
  errors: [-32501],
  decode: ([query, entryPoint, chainId], chain: DecodeContext) => {
    requireChainId(chainId, 'params[2]', chain)
    const tokens = member(decodeObject(query, 'params[0]'), 'tokens')
    return {
      entryPoint: decodeEntryPoint(entryPoint, 'params[1]', chain),
      tokens: decodeBoundedList(tokens, 'params[0].tokens', MAX_TOKENS, decodeAddress),
    }
  },
  run: (request, { chain, appId }) => chain.tokens.rates({ ...request, appId }),
  encode: {
    both: ({ rates, nativePrice = 0n }) => ({
      quotes: rates.map((rate) => encodeRate(rate, nativePrice)),
    }),
  },
  example: {
    params: [{ tokens: [exampleToken.address] }, EXAMPLE_ENTRY_POINT, '0xa'],
    outcome: {
      rates: [
        {
          token: exampleToken,
          paymaster: EXAMPLE_TANK,
          markedUpRate: 3_150_000_000n,
          extraGas: 42_000n,
        },
      ],
      nativePrice: 3_000_000_000n,
    },
    result: {
      both: {
        quotes: [
          {
            paymaster: '0x7a11c0de00000000000000000000000000000007',
            token: '0x0b2C639c533813f4Aa9D7837CAf62653d097Ff85',
            postOpGas: '0xa410',
            exchangeRate: '0xbbc12f80',
            exchangeRateNativeToUsd: '0xb2d05e00',
          },
        ],
      },
    },
  },
})

/**
 * Clients approve (limits + postOpGas) · maxFeePerGas · exchangeRate / 10^18. The USD (6 decimals) of a
 * coin is a number to them: 0 where no price is configured. Slots for overrides stay out: nobody told
 * us where a token keeps its balances.
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
