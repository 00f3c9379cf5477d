import { method } from '../method.js'
import { debugOf } from './debugOf.js'

export const debugClearMempool = method({
  name: 'debug_bundler_clearMempool',
  summary: 'Drops every operation of the pool.',
  scope: 'debug',
  cost: 1,
  simulates: false,
  params: [],
  errors: [],
  decode: () => null,
  run: async (_, { chain }) => debugOf(chain).clearMempool(),
  encode: { both: () => 'ok' },
  example: { params: [], outcome: undefined, result: { both: 'ok' } },
})
