import { nodeMethod } from './nodeMethod.js'

export const blockNumber = nodeMethod({
  name: 'eth_blockNumber',
  summary: 'The number of the newest block.',
  cost: 1,
  params: [],
  errors: [-32000],
  decode: () => [],
  example: { params: [], result: '0x75' },
})
