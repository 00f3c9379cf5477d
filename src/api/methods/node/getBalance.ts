import { decodeAddress } from '../../dialects/decode/bytes.js'
import { decodeBlock } from '../../dialects/decode/nodeBlock.js'
import { EXAMPLE_TANK } from '../examples/examples.js'
import { nodeMethod } from './nodeMethod.js'

export const getBalance = nodeMethod({
  name: 'eth_getBalance',
  summary: 'The balance of an account, in wei.',
  cost: 1,
  params: ['address', 'block?'],
  errors: [-32000],
  decode: ([address, block]) => [
    decodeAddress(address, 'params[0]'),
    decodeBlock(block, 'params[1]'),
  ],
  example: { params: [EXAMPLE_TANK, 'latest'], result: '0xde0b6b3a7640000' },
})
