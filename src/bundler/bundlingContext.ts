import type { Logger } from 'pino'
import type { ChainMetrics } from '../base/metrics/metrics.js'
import type { ProblemLog } from '../base/problemLog.js'
import type { ChainDefinition } from '../chain/definition/chainDefinition.js'
import type { NodeClient } from '../chain/nodeClient.js'
import type { ExecutorSigner } from '../chain/signing/executorTransaction.js'
import type { TransactionReceipt } from '../chain/transactionReceipt.js'
import type { Database } from '../db/database.js'
import type { EntryPoint } from '../erc4337/entryPoint.js'
import type { SizeWatch } from '../mempool/bundleSizes.js'
import type { ChainEngine, PartyEngine } from '../simulation/chainEngine.js'
import type { WitnessRecorder } from '../mempool/witnesses.js'
import type { RuleSettings } from '../simulation/checkRules.js'
import type { BundleWitness } from './createBundleWitness.js'
import type { DataFeeWatch } from './createDataFeeWatch.js'
import type { GasWatch } from './createGasWatch.js'
import type { Relay } from './createRelay.js'
import type { MinedBundle } from './minedBundle.js'
import type { PendingBlock } from './pendingBlock.js'

/** The parts that bundle on one chain. All state is in the database. */
export type BundlingContext = {
  readonly definition: ChainDefinition
  readonly entryPoints: readonly EntryPoint[]
  readonly database: Database
  readonly node: NodeClient
  /** Absent on chains whose pending block is no promise. */
  readonly pending?: PendingBlock | undefined
  /** Of the service itself, whichever request led to a bundle. */
  readonly engine: Pick<PartyEngine, 'validate' | 'execute'> &
    Pick<ChainEngine, 'replay' | 'remember' | 'recall'>
  readonly rules: RuleSettings
  /** The keys that send bundles. */
  readonly signers: readonly ExecutorSigner[]
  /** The key that refills them. */
  readonly treasury: ExecutorSigner | undefined
  /** The receiver of bundles that are not sent publicly; absent where all are. */
  readonly relay?: Relay | undefined
  readonly logger: Logger
  /** Logs what each cycle meets again. */
  readonly problems: ProblemLog
  readonly metrics: ChainMetrics
  /** Absent where receipts hold the data fee, or there is none. */
  readonly dataFeeWatch?: DataFeeWatch | undefined
  readonly bundleWitness?: BundleWitness | undefined
  /** A bundle of ours that is to be run again. */
  readonly minedBundle?: (receipt: TransactionReceipt, entryPoint: EntryPoint) => MinedBundle
  readonly witnesses?: Pick<WitnessRecorder, 'record'> | undefined
  /** Absent where the rules are off. */
  readonly gasWatch?: GasWatch | undefined
  /** Absent where the operator has set the size of bundles to assume. */
  readonly sizeWatch?: SizeWatch | undefined
}
