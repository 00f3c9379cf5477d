import { decodeEntryPoint } from '../../dialects/decode/entryPoint.js'
import { decodeList } from '../../dialects/decode/list.js'
import { decodeOperation } from '../../dialects/decode/operation.js'
import { EXAMPLE_ENTRY_POINT, exampleOperationJson } from '../examples/examples.js'
import { method } from '../method.js'
import { debugOf } from './debugOf.js'

export const debugAddUserOps = method({
  name: 'debug_bundler_addUserOps',
  summary: 'Takes operations into the pool without checking them.',
  scope: 'debug',
  cost: 1,
  simulates: false,
  params: ['operations', 'entryPoint'],
  errors: [],
  decode: ([list, address], chain) => {
    const entryPoint = decodeEntryPoint(address, 'params[1]', chain)
    const operations = decodeList(list, 'params[0]', (element, field) =>
      decodeOperation(element, field, entryPoint.version),
    )
    return { entryPoint, operations }
  },
  run: async ({ entryPoint, operations }, { chain, appId }) =>
    debugOf(chain).addOperations(entryPoint, operations, appId),
  encode: { both: () => 'ok' },
  example: {
    params: [[exampleOperationJson], EXAMPLE_ENTRY_POINT],
    outcome: undefined,
    result: { both: 'ok' },
  },
})
