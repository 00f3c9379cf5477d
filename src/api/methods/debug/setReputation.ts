import type { EntityReputation } from '../../../bundling/createDebugBundler.js'
import { decodeAddress } from '../../dialects/decode/bytes.js'
import { decodeEntryPoint } from '../../dialects/decode/entryPoint.js'
import { decodeList } from '../../dialects/decode/list.js'
import { decodeObject, member } from '../../dialects/decode/members.js'
import { decodeInteger } from '../../dialects/decode/quantity.js'
import { EXAMPLE_ENTRY_POINT, EXAMPLE_TANK } from '../examples/examples.js'
import { method } from '../method.js'
import { debugOf } from './debugOf.js'

export const debugSetReputation = method({
  name: 'debug_bundler_setReputation',
  summary: 'Sets the counts of entities.',
  scope: 'debug',
  cost: 1,
  simulates: false,
  params: ['entities', 'entryPoint'],
  errors: [],
  decode: ([list, address], chain) => {
    const entryPoint = decodeEntryPoint(address, 'params[1]', chain)
    return { entryPoint, entities: decodeList(list, 'params[0]', decodeReputation) }
  },
  run: async ({ entryPoint, entities }, { chain }) =>
    debugOf(chain).setReputation(entryPoint, entities),
  encode: { both: () => 'ok' },
  example: {
    params: [[{ address: EXAMPLE_TANK, opsSeen: '0x64', opsIncluded: 90 }], EXAMPLE_ENTRY_POINT],
    outcome: undefined,
    result: { both: 'ok' },
  },
})

const range = { min: 0, max: Number.MAX_SAFE_INTEGER }

function decodeReputation(value: unknown, field: string): EntityReputation {
  const object = decodeObject(value, field)
  const count = (name: string) => decodeInteger(member(object, name), `${field}.${name}`, range)
  return {
    address: decodeAddress(member(object, 'address'), `${field}.address`),
    opsSeen: count('opsSeen'),
    opsIncluded: count('opsIncluded'),
  }
}
