import { randomUUID } from 'node:crypto'
import type { Logger } from 'pino'
import { PurserError } from '../errors/purserError.js'
import { InternalError } from '../errors/requestErrors.js'

/** What the caller is told: our own refusals as they are, the rest logged under a reference. */
export const asPurserError = (error: unknown, logger: Logger): PurserError => {
  if (error instanceof PurserError) return error
  const reference = randomUUID()
  logger.error({ err: error, reference }, 'request failed inside')
  return new InternalError(reference, error)
}
