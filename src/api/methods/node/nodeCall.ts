import { decodeBlock } from '../../dialects/decode/nodeBlock.js'
import { decodeNodeCall } from '../../dialects/decode/nodeCall.js'
import { decodeStateOverride } from '../../dialects/decode/stateOverride.js'
import { EXAMPLE_TANK } from '../examples/examples.js'
import { nodeMethod } from './nodeMethod.js'

/** With as much gas as a transaction may have, and as much overridden state as an estimate takes. */
export const nodeCall = nodeMethod({
  name: 'eth_call',
  summary: 'What a call would return now.',
  cost: 5,
  params: ['call', 'block?', 'stateOverride?'],
  errors: [3, -32000],
  decode: ([call, block, override]) => [
    decodeNodeCall(call, 'params[0]'),
    decodeBlock(block, 'params[1]'),
    ...(override === undefined || override === null
      ? []
      : [decodeStateOverride(override, 'params[2]')]),
  ],
  example: {
    params: [{ to: EXAMPLE_TANK, data: '0xd087d288' }, 'latest'],
    result: `0x${'00'.repeat(32)}`,
  },
})
