import type { ClientReads } from '../../../chain/clientReads.js'
import { boundLogFilter, decodeLogFilter } from '../../dialects/decode/logFilter.js'
import { EXAMPLE_TANK } from '../examples/examples.js'
import { method } from '../method.js'
import { readsOf } from './nodeMethod.js'

export const getLogs = method({
  name: 'eth_getLogs',
  summary: 'Logs of named contracts, over as many blocks as the chain is read in at once.',
  scope: 'node',
  cost: 10,
  simulates: false,
  params: ['filter'],
  errors: [-32000],
  decode: ([filter]) => ({ filter: decodeLogFilter(filter, 'params[0]') }),
  run: async ({ filter }, { chain, appId }) => {
    const reads: ClientReads = readsOf(chain)
    const { logRange } = reads
    const bounded = boundLogFilter(filter, { head: reads.head(), logRange })
    return reads.read(appId, 'eth_getLogs', [bounded])
  },
  encode: { both: (logs: unknown) => logs },
  example: {
    params: [{ address: EXAMPLE_TANK, fromBlock: '0x1', toBlock: '0x75' }],
    outcome: [],
    result: { both: [] },
  },
})
