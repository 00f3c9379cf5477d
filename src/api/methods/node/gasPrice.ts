import { encodeStandardPrice } from '../../dialects/feeValues.js'
import { exampleFees } from '../examples/exampleFees.js'
import { method } from '../method.js'

/** maxFeePerGas of our own advice: what a library computes from it is accepted. */
export const gasPrice = method({
  name: 'eth_gasPrice',
  summary: 'The fee that an operation should offer now.',
  scope: 'bundler',
  cost: 1,
  simulates: false,
  params: [],
  errors: [],
  decode: () => null,
  run: (_, { chain, appId }) => chain.fees(appId),
  encode: { both: encodeStandardPrice },
  example: { params: [], outcome: exampleFees, result: { both: '0x59682f00' } },
})
