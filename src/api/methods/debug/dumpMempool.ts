import { decodeEntryPointParams } from '../../dialects/decode/entryPoint.js'
import { encodeOperation } from '../../dialects/operationFields.js'
import {
  EXAMPLE_ENTRY_POINT,
  exampleOperation,
  exampleOperationJson,
} from '../examples/examples.js'
import { method } from '../method.js'
import { debugOf } from './debugOf.js'

export const debugDumpMempool = method({
  name: 'debug_bundler_dumpMempool',
  summary: 'The operations of the pool, the oldest first.',
  scope: 'debug',
  cost: 1,
  simulates: false,
  params: ['entryPoint'],
  errors: [],
  decode: decodeEntryPointParams,
  run: async ({ entryPoint }, { chain }) => ({
    version: entryPoint.version,
    operations: await debugOf(chain).dumpMempool(entryPoint),
  }),
  encode: {
    both: ({ operations, version }) =>
      operations.map((operation) => encodeOperation(operation, version)),
  },
  example: {
    params: [EXAMPLE_ENTRY_POINT],
    outcome: { version: '0.7', operations: [exampleOperation] },
    result: { both: [exampleOperationJson] },
  },
})
