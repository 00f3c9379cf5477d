import { OperationNotFoundError } from '../../errors/operationErrors.js'
import { encodeClassicStatus } from '../dialects/classic/classicReceipt.js'
import { decodeHashParams } from '../dialects/decode/hashParams.js'
import { encodeStandardStatus } from '../dialects/standard/standardReceipt.js'
import { EXAMPLE_HASH } from './examples/examples.js'
import { method } from './method.js'

export const getUserOperationStatus = method({
  name: 'biconomy_getUserOperationStatus',
  summary: 'The state of an operation, with its receipt once it is included.',
  scope: 'bundler',
  cost: 1,
  simulates: false,
  params: ['userOpHash'],
  errors: [-32004],
  decode: decodeHashParams,
  run: async ({ hash }, { chain }) => {
    const status = await chain.status(hash)
    if (status === undefined) throw new OperationNotFoundError(hash, chain.chainId)
    return status
  },
  encode: { classic: encodeClassicStatus, standard: encodeStandardStatus },
  example: {
    params: [EXAMPLE_HASH],
    outcome: {
      state: 'DROPPED_FROM_BUNDLER_MEMPOOL',
      message: 'cancelled by the operator',
      transactionHash: undefined,
      receipt: undefined,
    },
    result: {
      both: { state: 'DROPPED_FROM_BUNDLER_MEMPOOL', message: 'cancelled by the operator' },
    },
  },
})
