import type { Context } from 'hono'
import type { ContentfulStatusCode } from 'hono/utils/http-status'
import type { Logger } from 'pino'
import { RateLimitError } from '../../errors/limitErrors.js'
import type { Metrics } from '../../metrics/createMetrics.js'
import { asPurserError } from '../asPurserError.js'

type Observers = { readonly logger: Logger; readonly metrics: Metrics }

/** The answer to a REST request that failed. */
export function restError(c: Context, thrown: unknown, { logger, metrics }: Observers): Response {
  const error = asPurserError(thrown, logger)
  const { status, message, retryAfter } = error
  if (error instanceof RateLimitError) metrics.limited(error.limit)
  if (retryAfter !== undefined) c.header('retry-after', String(retryAfter))
  return c.json({ statusCode: status, message }, status as ContentfulStatusCode)
}
