import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { ChainDefinition } from '../chain/definition.js'
import type { HeadFollower } from '../chain/headFollower.js'
import type { NodeClient } from '../chain/nodeClient.js'
import type { BundleShare } from '../gas/preVerificationGas.js'
import type { Schema } from '../store/schema.js'
import type { Engine } from '../validation/engine.js'
import type { CheckedWith } from '../validation/requireRules.js'

/** The parts that admit operations to one chain's pool. */
export type MempoolContext = {
  readonly definition: ChainDefinition
  readonly database: Kysely<Schema>
  readonly node: NodeClient
  readonly heads: Pick<HeadFollower, 'current' | 'refresh'>
  readonly engine: Engine
  /** Called with the way in which each operation was checked by ERC-7562, for the metrics. */
  readonly onRulesChecked: (how: CheckedWith) => void
  readonly logger: Logger
} & Omit<BundleShare, 'verificationGasUsed'>
