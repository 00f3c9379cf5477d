import { InvalidParamsError } from '../../../errors/requestErrors.js'
import { method } from '../method.js'
import { debugOf } from './debugOf.js'

export const debugSetBundlingMode = method({
  name: 'debug_bundler_setBundlingMode',
  summary: 'Bundles by itself (auto), or by debug_bundler_sendBundleNow only (manual).',
  scope: 'debug',
  cost: 1,
  simulates: false,
  params: ['mode'],
  errors: [],
  decode: ([mode]): { readonly mode: 'manual' | 'auto' } => {
    if (mode !== 'manual' && mode !== 'auto')
      throw new InvalidParamsError('params[0]', 'must be "manual" or "auto".')
    return { mode }
  },
  run: async ({ mode }, { chain }) => debugOf(chain).setBundlingMode(mode),
  encode: { both: () => 'ok' },
  example: { params: ['manual'], outcome: undefined, result: { both: 'ok' } },
})
