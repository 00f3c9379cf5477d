import { randomUUID } from 'node:crypto'
import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Logger } from 'pino'
import { RateLimitError } from '../base/errors/limitErrors.js'
import { PurserError } from '../base/errors/purserError.js'
import { InternalError, UnavailableError } from '../base/errors/requestErrors.js'
import type { Metrics } from '../base/metrics/metrics.js'
import { NodeRpcError } from '../chain/nodeErrors.js'

type Observers = { readonly logger: Logger; readonly metrics: Metrics }

/** The answer to a REST request that failed. */
export function restError(c: Context, thrown: unknown, { logger, metrics }: Observers): Response {
  const error = asPurserError(thrown, logger)
  const { status, message, retryAfter } = error
  if (error instanceof RateLimitError)
    metrics.count('purser_rate_limited_total', { limit: error.limit })
  if (retryAfter !== undefined) c.header('retry-after', String(retryAfter))
  return c.json({ statusCode: status, message }, status as ContentfulStatusCode)
}

/** Counts an answer. @param route of the route table, never the path of the request */
export function countRequest(metrics: Metrics, route: string, status: number): void {
  metrics.count('purser_rest_requests_total', { route, status: String(status) })
  if (status === 500) metrics.count('purser_internal_errors_total', { api: 'rest' })
}

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
