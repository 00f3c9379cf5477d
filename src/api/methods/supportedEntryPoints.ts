import { getAddress } from 'viem/utils'
import { EXAMPLE_ENTRY_POINT } from './examples/examples.js'
import { method } from './method.js'

/** The preferred EntryPoint comes first (ERC-7769). */
export const supportedEntryPoints = method({
  name: 'eth_supportedEntryPoints',
  summary: 'The EntryPoints of the chain, the preferred one first.',
  scope: 'common',
  cost: 1,
  simulates: false,
  params: [],
  errors: [],
  decode: () => null,
  run: async (_, { chain }) => [...chain.entryPoints.keys()],
  encode: { both: (addresses) => addresses.map((address) => getAddress(address)) },
  example: {
    params: [],
    outcome: [EXAMPLE_ENTRY_POINT],
    result: { both: ['0x0000000071727De22E5E9d8BAf0edAc6f37da032'] },
  },
})
