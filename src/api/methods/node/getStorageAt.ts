import { decodeAddress, decodeWord } from '../../dialects/decode/bytes.js'
import { decodeBlock } from '../../dialects/decode/nodeBlock.js'
import { EXAMPLE_TANK } from '../examples/examples.js'
import { nodeMethod } from './nodeMethod.js'

export const getStorageAt = nodeMethod({
  name: 'eth_getStorageAt',
  summary: 'A storage slot of an account.',
  cost: 1,
  params: ['address', 'slot', 'block?'],
  errors: [-32000],
  decode: ([address, slot, block]) => [
    decodeAddress(address, 'params[0]'),
    decodeWord(slot, 'params[1]'),
    decodeBlock(block, 'params[2]'),
  ],
  example: { params: [EXAMPLE_TANK, '0x0', 'latest'], result: `0x${'00'.repeat(32)}` },
})
