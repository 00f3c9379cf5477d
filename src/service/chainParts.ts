import type { Logger } from 'pino'
import type { Config } from '../config/options.js'
import type { Metrics } from '../metrics/createMetrics.js'
import type { OutboundClient } from '../outbound/guardedRequest.js'
import type { Database } from '../store/database.js'
import type { OperationTraces } from '../traces/operationTraces.js'
import type { Simulations } from '../validation/simulations.js'
import type { Approver } from '../webhook/approve.js'

/** The parts that the chains of a service share. */
export type ChainParts = {
  readonly config: Pick<
    Config,
    | 'role'
    | 'leaseSeconds'
    | 'debugMethods'
    | 'nativePrices'
    | 'minSponsorshipSeconds'
    | 'maxSponsorshipSeconds'
  >
  /** The one way out to servers of webhooks and prices. */
  readonly client: OutboundClient
  readonly approver: Approver
  readonly metrics: Metrics
  /** Undefined where nobody wants to see them. */
  readonly traces: OperationTraces | undefined
  /** Runs of our EVM, on threads that all chains share. */
  readonly simulations: Simulations
  readonly database: Database
  readonly masterKey: Buffer
  /** No other service runs on the database. */
  readonly alone: boolean
  readonly logger: Logger
}
