import { encodeStandardTip } from '../../dialects/feeValues.js'
import { exampleFees } from '../examples/exampleFees.js'
import { method } from '../method.js'

/** Of our own advice, so that what a library computes from it is accepted. */
export const maxPriorityFeePerGas = method({
  name: 'eth_maxPriorityFeePerGas',
  summary: 'The tip that an operation should offer now.',
  scope: 'bundler',
  cost: 1,
  simulates: false,
  params: [],
  errors: [],
  decode: () => null,
  run: (_, { chain, appId }) => chain.fees(appId),
  encode: { both: encodeStandardTip },
  example: { params: [], outcome: exampleFees, result: { both: '0xf4240' } },
})
