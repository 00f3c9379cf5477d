import { getAddress } from 'viem/utils'
import { decodeAddress } from '../../dialects/decode/bytes.js'
import { decodeEntryPoint } from '../../dialects/decode/entryPoint.js'
import { EXAMPLE_ENTRY_POINT, EXAMPLE_TANK } from '../examples/examples.js'
import { method } from '../method.js'
import { debugOf } from './debugOf.js'

export const debugGetStakeStatus = method({
  name: 'debug_bundler_getStakeStatus',
  summary: 'The stake of an address, and whether it is enough.',
  scope: 'debug',
  cost: 1,
  simulates: false,
  params: ['address', 'entryPoint'],
  errors: [],
  decode: ([address, entryPoint], chain) => ({
    address: decodeAddress(address, 'params[0]'),
    entryPoint: decodeEntryPoint(entryPoint, 'params[1]', chain),
  }),
  run: async ({ entryPoint, address }, { chain }) =>
    debugOf(chain).stakeStatus(entryPoint, address),
  encode: {
    both: ({ address, stake, unstakeDelay, isStaked }) => ({
      stakeInfo: {
        addr: getAddress(address),
        stake: stake.toString(),
        unstakeDelaySec: unstakeDelay.toString(),
      },
      isStaked,
    }),
  },
  example: {
    params: [EXAMPLE_TANK, EXAMPLE_ENTRY_POINT],
    outcome: { address: EXAMPLE_TANK, stake: 10n ** 18n, unstakeDelay: 86_400n, isStaked: true },
    result: {
      both: {
        stakeInfo: {
          addr: '0x7a11c0de00000000000000000000000000000007',
          stake: '1000000000000000000',
          unstakeDelaySec: '86400',
        },
        isStaked: true,
      },
    },
  },
})
