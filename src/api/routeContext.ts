import type { Logger } from 'pino'
import type { Metrics } from '../metrics/createMetrics.js'
import type { Gate } from './gate/createGate.js'
import type { ApiLimits } from './limits.js'

/** The parts of the API that all its routes share. */
export type RouteContext = {
  readonly limits: ApiLimits
  readonly gate: Gate
  readonly metrics: Metrics
  readonly logger: Logger
}
