import { decodeAddress } from '../../dialects/decode/bytes.js'
import { decodeBlock } from '../../dialects/decode/nodeBlock.js'
import { EXAMPLE_TANK } from '../examples/examples.js'
import { nodeMethod } from './nodeMethod.js'

export const getCode = nodeMethod({
  name: 'eth_getCode',
  summary: 'The code of an account.',
  cost: 1,
  params: ['address', 'block?'],
  errors: [-32000],
  decode: ([address, block]) => [
    decodeAddress(address, 'params[0]'),
    decodeBlock(block, 'params[1]'),
  ],
  example: { params: [EXAMPLE_TANK, 'latest'], result: '0x6080' },
})
