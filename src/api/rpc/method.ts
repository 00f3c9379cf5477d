import type { ChainServices } from '../services.js'
import type { MethodName, MethodParams, MethodResult } from './signatures.js'

export type MethodContext = {
  readonly chain: ChainServices
  /** The app whose key is in the path. */
  readonly appId: string
  readonly clientVersion: string
}

/** What a method does with decoded parameters. It knows no dialect. */
export type Method<N extends MethodName> = (
  params: MethodParams<N>,
  context: MethodContext,
) => Promise<MethodResult<N>>
