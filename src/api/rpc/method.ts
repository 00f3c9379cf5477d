import type { ChainServices } from '../services.js'
import type { MethodName, Params, Result } from './signatures.js'

export type MethodContext = {
  readonly chain: ChainServices
  /** The app whose key is in the path. */
  readonly appId: string
  readonly clientVersion: string
}

/** What a method does with decoded parameters. It knows no dialect. */
export type Method<N extends MethodName> = (
  params: Params<N>,
  context: MethodContext,
) => Promise<Result<N>>
