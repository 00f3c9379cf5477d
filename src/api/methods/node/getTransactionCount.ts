import { decodeAddress } from '../../dialects/decode/bytes.js'
import { decodeBlock } from '../../dialects/decode/nodeBlock.js'
import { EXAMPLE_TANK } from '../examples/examples.js'
import { nodeMethod } from './nodeMethod.js'

export const getTransactionCount = nodeMethod({
  name: 'eth_getTransactionCount',
  summary: 'The next nonce of an account outside of the EntryPoint.',
  cost: 1,
  params: ['address', 'block?'],
  errors: [-32000],
  decode: ([address, block]) => [
    decodeAddress(address, 'params[0]'),
    decodeBlock(block, 'params[1]'),
  ],
  example: { params: [EXAMPLE_TANK, 'latest'], result: '0x1' },
})
