import { InvalidParamsError } from '../../../errors/requestErrors.js'
import { decodeBlockNumber } from '../../dialects/decode/nodeBlock.js'
import { nodeMethod } from './nodeMethod.js'

export const getBlockByNumber = nodeMethod({
  name: 'eth_getBlockByNumber',
  summary: 'A block, with its transactions whole or as hashes.',
  cost: 2,
  params: ['block', 'whole?'],
  errors: [-32000],
  decode: ([block, whole = false]) => {
    if (typeof whole !== 'boolean')
      throw new InvalidParamsError('params[1]', 'must be true or false.')
    if (block === undefined) throw new InvalidParamsError('params[0]', 'is missing.')
    return [decodeBlockNumber(block, 'params[0]'), whole]
  },
  example: { params: ['0x75', false], result: { number: '0x75', transactions: [] } },
})
