import type { PerDialect } from '../dialects/dialect.js'
import { method } from './method.js'

type Documents = PerDialect<Readonly<Record<string, unknown>>>

/** The document is made of all methods, this one too, so it comes from the context. */
export const discover = method({
  name: 'rpc.discover',
  summary: 'The OpenRPC document of the dialect.',
  scope: 'common',
  // Writing 110 kB takes longer than any other answer, and a batch is written in one go.
  cost: 1_000,
  simulates: false,
  params: [],
  errors: [],
  decode: () => null,
  run: async (_, { documents }): Promise<Documents> => documents,
  encode: { classic: ({ classic }) => classic, standard: ({ standard }) => standard },
  example: {
    params: [],
    outcome: { classic: { openrpc: '1.3.2' }, standard: { openrpc: '1.3.2' } },
    result: { both: { openrpc: '1.3.2' } },
  },
})
