import type { PurserError } from '../../errors/purserError.js'
import type { RequestId } from './envelope.js'

/** A JSON-RPC error response. The rule that decided goes to `error.data` beside the error's own. */
export function errorBody(id: RequestId, { code, message, rule, data }: PurserError) {
  return {
    jsonrpc: '2.0',
    id,
    error: {
      code,
      message,
      ...((data !== undefined || rule !== undefined) && {
        data: { ...data, ...(rule !== undefined && { rule }) },
      }),
    },
  }
}
