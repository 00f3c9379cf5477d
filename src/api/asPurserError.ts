import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { NodeRpcError } from '../chain/nodeErrors.js'
import { PurserError } from '../errors/purserError.js'
import { InternalError, UnavailableError } from '../errors/requestErrors.js'

/**
 * The error that the caller gets: our own refusals as they are, a node's refusal as trouble of the
 * moment, the rest logged under a reference.
 */
export function asPurserError(error: unknown, logger: Logger): PurserError {
  if (error instanceof PurserError) return error
  if (error instanceof NodeRpcError) {
    logger.warn({ reason: error.message }, "the chain's node refused a request")
    return new UnavailableError("The chain's node refused a request.", error, 'NODE_UNAVAILABLE')
  }
  const reference = randomUUID()
  logger.error({ err: error, reference }, 'request failed inside')
  return new InternalError(reference, error)
}
