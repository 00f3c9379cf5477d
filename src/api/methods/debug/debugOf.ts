import type { DebugBundler } from '../../../bundling/createDebugBundler.js'
import { MethodNotFoundError } from '../../../errors/requestErrors.js'
import type { ChainServices } from '../../services.js'

/** The debug side of a chain's bundler. Throws MethodNotFoundError where the operator allows none. */
export function debugOf({ debug }: Pick<ChainServices, 'debug'>): DebugBundler {
  if (debug === undefined) throw new MethodNotFoundError('debug_bundler_*')
  return debug
}
