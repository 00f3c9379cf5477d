import type { Logger } from 'pino'
import type { ChainMetrics } from '../base/metrics/metrics.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { HeadFollower } from '../chain/headFollower.js'
import type { NodeClient } from '../chain/nodeClient.js'
import type { Database } from '../db/database.js'
import type { ChainEngine } from '../simulation/chainEngine.js'
import type { WitnessRecorder } from './witnesses.js'
import type { ExpectedSizes } from './bundleSizes.js'

/** The parts that admit operations to one chain's pool. */
export type MempoolContext = {
  readonly definition: ChainDefinition
  readonly database: Database
  readonly node: NodeClient
  readonly heads: Pick<HeadFollower, 'current' | 'refresh'>
  readonly engine: Pick<ChainEngine, 'by' | 'foresee' | 'remember'>
  readonly metrics: ChainMetrics
  readonly logger: Logger
  readonly sizes: ExpectedSizes
  readonly witnesses: Pick<WitnessRecorder, 'record'>
  /** Wakes the bundler of this process; false where it does not bundle at present. */
  readonly wakeBundler?: () => boolean
}
