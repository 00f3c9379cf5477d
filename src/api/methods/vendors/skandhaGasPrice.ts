import { encodeStandardFees } from '../../dialects/feeValues.js'
import { exampleFees } from '../examples/exampleFees.js'
import { method } from '../method.js'

/** Asked before each operation by clients of Etherspot. */
export const skandhaGasPrice = method({
  name: 'skandha_getGasPrice',
  summary: 'Fees that an operation should offer now.',
  scope: 'bundler',
  cost: 1,
  simulates: false,
  params: [],
  errors: [],
  decode: () => null,
  run: (_, { chain, appId }) => chain.fees(appId),
  encode: { both: encodeStandardFees },
  example: {
    params: [],
    outcome: exampleFees,
    result: { both: { maxFeePerGas: '0x59682f00', maxPriorityFeePerGas: '0xf4240' } },
  },
})
