import { encodeFeeTiers } from '../../dialects/feeValues.js'
import { exampleFees, exampleFeeTiers } from '../examples/exampleFees.js'
import { method } from '../method.js'

/** Asked before each operation by every client of ZeroDev. */
export const zeroDevGasPrice = method({
  name: 'zd_getUserOperationGasPrice',
  summary: 'Fees that an operation should offer now, in three tiers.',
  scope: 'bundler',
  cost: 1,
  simulates: false,
  params: [],
  errors: [],
  decode: () => null,
  run: (_, { chain, appId }) => chain.fees(appId),
  encode: { both: encodeFeeTiers },
  example: { params: [], outcome: exampleFees, result: { both: exampleFeeTiers } },
})
