import type { Logger } from 'pino'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { HeadFollower } from '../chain/headFollower.js'
import type { NodeClient } from '../chain/nodeClient.js'
import type { Database } from '../store/database.js'
import type { Engine } from '../validation/engine.js'
import type { RuleOutcome } from '../validation/requireRules.js'
import type { ExpectedSizes } from './createBundleSizes.js'

/** The parts that admit operations to one chain's pool. */
export type MempoolContext = {
  readonly definition: ChainDefinition
  readonly database: Database
  readonly node: NodeClient
  readonly heads: Pick<HeadFollower, 'current' | 'refresh'>
  readonly engine: Engine
  /** Called with the outcome of the ERC-7562 rules for each operation, for the metrics. */
  readonly onRulesChecked: (outcome: RuleOutcome) => void
  readonly logger: Logger
  readonly sizes: ExpectedSizes
}
