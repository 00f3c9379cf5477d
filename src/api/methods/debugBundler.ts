import type { DebugBundler } from '../../bundling/createDebugBundler.js'
import { MethodNotFoundError } from '../../errors/requestErrors.js'
import type { Method } from '../rpc/method.js'
import type { ChainServices } from '../services.js'

function debugOf({ debug }: ChainServices): DebugBundler {
  if (debug === undefined) throw new MethodNotFoundError('debug_bundler_*')
  return debug
}

export const debugClearState: Method<'debug_bundler_clearState'> = async (_, { chain }) => {
  const debug = debugOf(chain)
  await debug.clearMempool()
  await debug.clearReputation()
}

export const debugClearMempool: Method<'debug_bundler_clearMempool'> = async (_, { chain }) =>
  debugOf(chain).clearMempool()

export const debugClearReputation: Method<'debug_bundler_clearReputation'> = async (_, { chain }) =>
  debugOf(chain).clearReputation()

export const debugDumpMempool: Method<'debug_bundler_dumpMempool'> = async (
  { entryPoint },
  { chain },
) => ({
  version: entryPoint.version,
  operations: await debugOf(chain).dumpMempool(entryPoint),
})

export const debugAddUserOps: Method<'debug_bundler_addUserOps'> = async (
  { entryPoint, operations },
  { chain, appId },
) => debugOf(chain).addOperations(entryPoint, operations, appId)

export const debugSendBundleNow: Method<'debug_bundler_sendBundleNow'> = async (_, { chain }) =>
  debugOf(chain).sendBundleNow()

export const debugSetBundlingMode: Method<'debug_bundler_setBundlingMode'> = async (
  { mode },
  { chain },
) => debugOf(chain).setBundlingMode(mode)

export const debugSetReputation: Method<'debug_bundler_setReputation'> = async (
  { entryPoint, entities },
  { chain },
) => debugOf(chain).setReputation(entryPoint, entities)

export const debugDumpReputation: Method<'debug_bundler_dumpReputation'> = async (
  { entryPoint },
  { chain },
) => debugOf(chain).dumpReputation(entryPoint)

export const debugGetStakeStatus: Method<'debug_bundler_getStakeStatus'> = async (
  { entryPoint, address },
  { chain },
) => debugOf(chain).stakeStatus(entryPoint, address)
