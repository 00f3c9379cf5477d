import { encodeFeeValues } from '../dialects/feeValues.js'
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
    outcome: {
      slow: { maxFeePerGas: 1_200_000_000n, maxPriorityFeePerGas: 900_000n },
      standard: { maxFeePerGas: 1_500_000_000n, maxPriorityFeePerGas: 1_000_000n },
      fast: { maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 2_000_000n },
    },
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
