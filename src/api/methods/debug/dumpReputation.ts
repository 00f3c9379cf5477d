import { getAddress, numberToHex } from 'viem/utils'
import { decodeEntryPointParams } from '../../dialects/decode/entryPoint.js'
import { EXAMPLE_ENTRY_POINT, EXAMPLE_TANK } from '../examples/examples.js'
import { method } from '../method.js'
import { debugOf } from './debugOf.js'

/** ERC-7769 writes the status as a word; the public compliance suite and other bundlers as a number. */
const statusNumber = { ok: 0, throttled: 1, banned: 2 } as const

export const debugDumpReputation = method({
  name: 'debug_bundler_dumpReputation',
  summary: 'The counts and the status of all entities.',
  scope: 'debug',
  cost: 1,
  simulates: false,
  params: ['entryPoint'],
  errors: [],
  decode: decodeEntryPointParams,
  run: async ({ entryPoint }, { chain }) => debugOf(chain).dumpReputation(entryPoint),
  encode: {
    both: (entities) =>
      entities.map(({ address, opsSeen, opsIncluded, status }) => ({
        address: getAddress(address),
        opsSeen: numberToHex(opsSeen),
        opsIncluded: numberToHex(opsIncluded),
        status: numberToHex(statusNumber[status]),
      })),
  },
  example: {
    params: [EXAMPLE_ENTRY_POINT],
    outcome: [{ address: EXAMPLE_TANK, opsSeen: 100, opsIncluded: 0, status: 'throttled' }],
    result: {
      both: [
        {
          address: '0x7a11c0de00000000000000000000000000000007',
          opsSeen: '0x64',
          opsIncluded: '0x0',
          status: '0x1',
        },
      ],
    },
  },
})
