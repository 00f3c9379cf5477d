import type { Kysely } from 'kysely'
import type { Logger } from 'pino'
import type { ChainDefinition } from '../chain/definition.js'
import type { NodeClient } from '../chain/nodeClient.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { ExecutorSigner } from '../signing/executorSigner.js'
import type { BundleState, Schema } from '../store/schema.js'
import type { RuleSettings } from '../validation/checkRules.js'
import type { Engine } from '../validation/engine.js'
import type { GasWatch } from './createGasWatch.js'

/** What bundling on one chain works with. All state is in the database. */
export type BundlingContext = {
  readonly definition: ChainDefinition
  readonly entryPoints: readonly EntryPoint[]
  readonly database: Kysely<Schema>
  readonly node: NodeClient
  readonly engine: Pick<Engine, 'validate' | 'execute'>
  readonly rules: RuleSettings
  /** The keys that send bundles. */
  readonly signers: readonly ExecutorSigner[]
  /** The key that refills them. */
  readonly treasury: ExecutorSigner | undefined
  readonly logger: Logger
  /** Hears how each bundle ended, for the metrics. */
  readonly onEnd?: (state: Exclude<BundleState, 'signed'>) => void
  /** Absent where no rules are judged. */
  readonly gasWatch?: GasWatch | undefined
}
