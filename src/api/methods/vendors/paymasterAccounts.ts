import { getAddress } from 'viem/utils'
import { decodeEntryPointParams } from '../../dialects/decode/entryPoint.js'
import { EXAMPLE_ENTRY_POINT, EXAMPLE_TANK } from '../examples/examples.js'
import { method } from '../method.js'

/** Asked by clients of Stackup, to approve or to recognize a paymaster. */
export const paymasterAccounts = method({
  name: 'pm_accounts',
  summary:
    'The paymasters that would sign: the one that gives gas, then the one that takes tokens.',
  scope: 'paymaster',
  cost: 1,
  simulates: false,
  params: ['entryPoint'],
  errors: [],
  decode: decodeEntryPointParams,
  run: ({ entryPoint }, { chain, appId }) => chain.tanks(appId, entryPoint),
  encode: { both: (tanks) => tanks.map((tank) => getAddress(tank)) },
  example: {
    params: [EXAMPLE_ENTRY_POINT],
    outcome: [EXAMPLE_TANK],
    result: { both: ['0x7a11c0de00000000000000000000000000000007'] },
  },
})
