import type { OperationStatus } from '../../../bundling/operationViews.js'
import { decodeHashParams } from '../../dialects/decode/hashParams.js'
import { EXAMPLE_HASH } from '../examples/examples.js'
import { method } from '../method.js'

/**
 * Our states in the words of Pimlico. `reverted`: the bundles with the operation failed as a whole. An
 * operation whose own call reverted is `included`.
 */
const words: Readonly<Record<OperationStatus['state'], string>> = {
  BUNDLER_MEMPOOL: 'not_submitted',
  SUBMITTED: 'submitted',
  CONFIRMED: 'included',
  FAILED: 'reverted',
  DROPPED_FROM_BUNDLER_MEMPOOL: 'rejected',
}

/** An unknown operation is a status like any other. */
export const pimlicoStatus = method({
  name: 'pimlico_getUserOperationStatus',
  summary: 'The state of an operation in one word, with its transaction.',
  scope: 'bundler',
  cost: 1,
  simulates: false,
  params: ['userOpHash'],
  errors: [],
  decode: decodeHashParams,
  run: ({ hash }, { chain }) => chain.status(hash),
  encode: {
    both: (status: OperationStatus | undefined) => ({
      status: status === undefined ? 'not_found' : words[status.state],
      transactionHash: status?.transactionHash ?? null,
    }),
  },
  example: {
    params: [EXAMPLE_HASH],
    outcome: undefined,
    result: { both: { status: 'not_found', transactionHash: null } },
  },
})
