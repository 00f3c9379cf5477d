import type { Logger } from 'pino'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { NodeClient } from '../chain/nodeClient.js'
import type { EntryPoint } from '../entrypoint/entryPoint.js'
import type { ExecutorSigner } from '../signing/executorSigner.js'
import type { Database } from '../store/database.js'
import type { BundleState } from '../store/schema.js'
import type { RuleSettings } from '../validation/checkRules.js'
import type { Engine } from '../validation/engine.js'
import type { DataFeeWatch } from './createDataFeeWatch.js'
import type { GasWatch } from './createGasWatch.js'
import type { Relay } from './createRelay.js'
import type { SizeWatch } from './createSizeWatch.js'

/** The parts that bundle on one chain. All state is in the database. */
export type BundlingContext = {
  readonly definition: ChainDefinition
  readonly entryPoints: readonly EntryPoint[]
  readonly database: Database
  readonly node: NodeClient
  readonly engine: Pick<Engine, 'validate' | 'execute'>
  readonly rules: RuleSettings
  /** The keys that send bundles. */
  readonly signers: readonly ExecutorSigner[]
  /** The key that refills them. */
  readonly treasury: ExecutorSigner | undefined
  /** The receiver of bundles that are not sent publicly; absent where all are. */
  readonly relay?: Relay | undefined
  readonly logger: Logger
  /** Called with the final state of each bundle, for the metrics. */
  readonly onBundleEnded?: (state: Exclude<BundleState, 'signed'>) => void
  /** Called for each mined bundle with the wei that it cost and earned. */
  readonly onBundlePaid?: (cost: bigint, earned: bigint) => void
  /** Called when a further transaction takes the nonce of a bundle: at higher fees, or to take it back. */
  readonly onBundleReplaced?: (kind: 'raised' | 'cancel') => void
  /** Called when a relayed bundle is taken back from the relay, or sent publicly after all. */
  readonly onRelayed?: (outcome: 'withdrawn' | 'published') => void
  /** Called with the number of indexed blocks that were replaced. */
  readonly onReorg?: (depth: number) => void
  /** Absent where receipts tell the data fee, or there is none. */
  readonly dataFeeWatch?: DataFeeWatch | undefined
  /** Absent where the rules are off. */
  readonly gasWatch?: GasWatch | undefined
  /** Absent where the operator has set the size of bundles to reckon with. */
  readonly sizeWatch?: SizeWatch | undefined
}
