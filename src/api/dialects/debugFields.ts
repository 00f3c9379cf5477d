import { getAddress, numberToHex } from 'viem/utils'
import type { MethodName, MethodResult } from '../rpc/signatures.js'
import { encodeOperation } from './operationFields.js'

type DebugName = Extract<MethodName, `debug_${string}`>
type DebugEncoders = { readonly [N in DebugName]: (result: MethodResult<N>) => unknown }

function ok() {
  return 'ok'
}

/** ERC-7769 writes the status as a word; the public compliance suite and other bundlers as a number. */
const statusNumber = { ok: 0, throttled: 1, banned: 2 } as const

/** Alike in both dialects: they are for tests of the standard interface. */
export const debugEncoders: DebugEncoders = {
  debug_bundler_clearState: ok,
  debug_bundler_clearMempool: ok,
  debug_bundler_clearReputation: ok,
  debug_bundler_addUserOps: ok,
  debug_bundler_sendBundleNow: ok,
  debug_bundler_setBundlingMode: ok,
  debug_bundler_setReputation: ok,
  debug_bundler_dumpMempool: ({ operations, version }) =>
    operations.map((operation) => encodeOperation(operation, version)),
  debug_bundler_dumpReputation: (entities) =>
    entities.map(({ address, opsSeen, opsIncluded, status }) => ({
      address: getAddress(address),
      opsSeen: numberToHex(opsSeen),
      opsIncluded: numberToHex(opsIncluded),
      status: numberToHex(statusNumber[status]),
    })),
  debug_bundler_getStakeStatus: ({ address, stake, unstakeDelay, isStaked }) => ({
    stakeInfo: {
      addr: getAddress(address),
      stake: stake.toString(),
      unstakeDelaySec: unstakeDelay.toString(),
    },
    isStaked,
  }),
}
