import type { PurserError } from '../../errors/purserError.js'
import type { MethodName, MethodResult } from '../rpc/signatures.js'

/** How answers are written. Pure: data in, JSON out. */
export type Dialect = {
  readonly name: 'classic' | 'standard'
  /** The HTTP status of a single JSON-RPC error. */
  status(error: PurserError): number
  readonly encoders: { readonly [N in MethodName]: (result: MethodResult<N>) => unknown }
}
