import { encodeStandardTip } from '../../dialects/feeValues.js'
import { exampleFees } from '../examples/exampleFees.js'
import { method } from '../method.js'

/** Asked before each operation by Alchemy's client; it adds one and a half base fees itself. */
export const rundlerTip = method({
  name: 'rundler_maxPriorityFeePerGas',
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
