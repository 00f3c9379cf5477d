import { numberToHex } from 'viem/utils'
import { method } from './method.js'

export const chainId = method({
  name: 'eth_chainId',
  summary: 'The chain of the URL.',
  scope: 'common',
  cost: 1,
  simulates: false,
  params: [],
  errors: [],
  decode: () => null,
  run: async (_, { chain }) => chain.chainId,
  encode: { both: (id) => numberToHex(id) },
  example: { params: [], outcome: 10, result: { both: '0xa' } },
})
