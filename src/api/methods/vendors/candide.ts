import { getAddress, numberToHex } from 'viem/utils'
import { z } from 'zod'
import type { EntryPoint } from '../../../erc4337/entryPoint.js'
import {
  type PaymasterStub,
  stubRange,
  tankStub,
  unknownDraft,
} from '../../../paymaster/sponsoredDraft.js'
import type { TokenList } from '../../../paymaster/tokenPayment.js'
import { entryPoint } from '../../dialects/decode/entryPoint.js'
import { encodePayer, packEntity } from '../../dialects/operationFields.js'
import { EXAMPLE_ENTRY_POINT, exampleRate } from '../examples.js'
import { address, bytes, hexQuantity } from '../../openRpc/parts.js'
import { method } from '../method.js'

/**
 * What abstractionkit's CandidePaymaster asks first: it estimates with the dummy, independent of the payer, and approves
 * the address. That is the token tank, or, where no tokens are taken, the one that gives gas.
 */
export const candideTokens = method({
  name: 'pm_supportedERC20Tokens',
  summary: 'The tokens that pay for gas with their rates, and a paymaster to estimate with.',
  scope: 'paymaster',
  cost: 5,
  params: { entryPoint },
  errors: [-32501],
  run: async ({ entryPoint }, { chain, appId }): Promise<ListedTokens> => {
    const { rates, stub } = await chain.tokens.list({ appId, entryPoint })
    if (stub !== undefined) return { rates, stub, entryPoint }
    const [tank] = await chain.tanks(appId, entryPoint)
    const gasStub = tank && tankStub(tank, stubRange, entryPoint, unknownDraft, false)
    return { rates, stub: gasStub, entryPoint }
  },
  result: z.object({
    tokens: z.array(
      z.object({
        name: z.string(),
        symbol: z.string(),
        address,
        decimals: z.int(),
        exchangeRate: hexQuantity,
      }),
    ),
    paymasterMetadata: z
      .object({
        name: z.string(),
        address,
        dummyPaymasterAndData: z.union([bytes, z.object({ paymaster: address }).loose()]),
      })
      .nullable(),
  }),
  encode: encodeTokens,
  example: {
    params: [EXAMPLE_ENTRY_POINT],
    outcome: {
      rates: [exampleRate],
      stub: undefined,
      entryPoint: { packsEntities: false },
    },
  },
})

type ListedTokens = Pick<TokenList, 'rates'> & {
  readonly stub: PaymasterStub | undefined
  readonly entryPoint: Pick<EntryPoint, 'packsEntities'>
}

/** `exchangeRate`: smallest units of the token for 10^18 wei, markup included. */
function encodeTokens({ rates, stub, entryPoint: { packsEntities } }: ListedTokens) {
  return {
    tokens: rates.map(({ token: { name, symbol, address, decimals }, markedUpRate }) => ({
      name,
      symbol,
      address: getAddress(address),
      decimals,
      exchangeRate: numberToHex(markedUpRate),
    })),
    paymasterMetadata:
      stub === undefined
        ? null
        : {
            name: 'Purser',
            address: getAddress(stub.paymaster),
            dummyPaymasterAndData: packsEntities
              ? packEntity(stub.paymaster, stub.paymasterData)
              : encodePayer(stub, false),
          },
  }
}
