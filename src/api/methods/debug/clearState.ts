import { method } from '../method.js'
import { debugOf } from './debugOf.js'

export const debugClearState = method({
  name: 'debug_bundler_clearState',
  summary: 'Clears the pool and all reputations.',
  scope: 'debug',
  cost: 1,
  simulates: false,
  params: [],
  errors: [],
  decode: () => null,
  run: async (_, { chain }) => {
    const debug = debugOf(chain)
    await debug.clearMempool()
    await debug.clearReputation()
  },
  encode: { both: () => 'ok' },
  example: { params: [], outcome: undefined, result: { both: 'ok' } },
})
