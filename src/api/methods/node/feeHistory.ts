import { numberToHex } from 'viem/utils'
import { InvalidParamsError } from '../../../errors/requestErrors.js'
import { decodeBoundedList } from '../../dialects/decode/list.js'
import { decodeBlockNumber } from '../../dialects/decode/nodeBlock.js'
import { decodeInteger } from '../../dialects/decode/quantity.js'
import { nodeMethod } from './nodeMethod.js'

const MAX_BLOCKS = 128
const MAX_PERCENTILES = 20

export const feeHistory = nodeMethod({
  name: 'eth_feeHistory',
  summary: 'Base fees and tips of the last blocks.',
  cost: 2,
  params: ['blockCount', 'newestBlock', 'percentiles?'],
  errors: [-32000],
  decode: ([count, newest, percentiles]) => [
    numberToHex(decodeInteger(count, 'params[0]', { min: 1, max: MAX_BLOCKS })),
    decodeBlockNumber(newest, 'params[1]'),
    decodeBoundedList(percentiles ?? [], 'params[2]', MAX_PERCENTILES, decodePercentile),
  ],
  example: {
    params: ['0x1', 'latest', [50]],
    result: {
      oldestBlock: '0x75',
      baseFeePerGas: ['0x7', '0x7'],
      gasUsedRatio: [0],
      reward: [['0x0']],
    },
  },
})

function decodePercentile(value: unknown, field: string): number {
  if (typeof value !== 'number' || !(value >= 0 && value <= 100))
    throw new InvalidParamsError(field, 'must be a number from 0 to 100.')
  return value
}
