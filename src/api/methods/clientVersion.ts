import { method } from './method.js'

export const clientVersion = method({
  name: 'web3_clientVersion',
  summary: 'The name and version of the service.',
  scope: 'common',
  cost: 1,
  simulates: false,
  params: [],
  errors: [],
  decode: () => null,
  run: async (_, context) => context.clientVersion,
  encode: { both: (version) => version },
  example: { params: [], outcome: 'purser/1.2.3', result: { both: 'purser/1.2.3' } },
})
