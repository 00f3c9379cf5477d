import { encodeFeeValues } from '../dialects/feeValues.js'
import { exampleFees } from './examples/exampleFees.js'
import { method } from './method.js'

export const getGasFeeValues = method({
  name: 'biconomy_getGasFeeValues',
  summary: 'Fees that an operation should offer now, in wei per gas.',
  scope: 'bundler',
  cost: 1,
  simulates: false,
  params: [],
  errors: [],
  decode: () => null,
  run: (_, { chain, appId }) => chain.fees(appId),
  encode: { both: encodeFeeValues },
  example: {
    params: [],
    outcome: exampleFees,
    result: {
      both: {
        maxPriorityFeePerGas: '1000000',
        maxFeePerGas: '1500000000',
        slow: { maxPriorityFeePerGas: '900000', maxFeePerGas: '1200000000' },
        standard: { maxPriorityFeePerGas: '1000000', maxFeePerGas: '1500000000' },
        fast: { maxPriorityFeePerGas: '2000000', maxFeePerGas: '2000000000' },
      },
    },
  },
})
