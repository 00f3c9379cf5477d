import { method } from '../method.js'
import { debugOf } from './debugOf.js'

export const debugClearReputation = method({
  name: 'debug_bundler_clearReputation',
  summary: 'Forgets all reputations.',
  scope: 'debug',
  cost: 1,
  simulates: false,
  params: [],
  errors: [],
  decode: () => null,
  run: async (_, { chain }) => debugOf(chain).clearReputation(),
  encode: { both: () => 'ok' },
  example: { params: [], outcome: undefined, result: { both: 'ok' } },
})
