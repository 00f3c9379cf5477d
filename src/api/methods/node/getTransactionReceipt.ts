import { decodeWord32 } from '../../dialects/decode/nodeBlock.js'
import { exampleTransaction } from '../examples/exampleReceipt.js'
import { nodeMethod } from './nodeMethod.js'

export const getTransactionReceipt = nodeMethod({
  name: 'eth_getTransactionReceipt',
  summary: 'The receipt of a transaction.',
  cost: 1,
  params: ['transactionHash'],
  errors: [-32000],
  decode: ([hash]) => [decodeWord32(hash, 'params[0]')],
  example: { params: [exampleTransaction], result: null },
})
