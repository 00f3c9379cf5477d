import { method } from '../method.js'
import { debugOf } from './debugOf.js'

export const debugSendBundleNow = method({
  name: 'debug_bundler_sendBundleNow',
  summary: 'Sends one bundle, and answers when it is mined.',
  scope: 'debug',
  cost: 1,
  simulates: false,
  params: [],
  errors: [],
  decode: () => null,
  run: async (_, { chain }) => debugOf(chain).sendBundleNow(),
  encode: { both: () => 'ok' },
  example: { params: [], outcome: undefined, result: { both: 'ok' } },
})
