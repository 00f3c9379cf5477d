import type { Address } from 'viem'
import type { Version } from '../../entrypoint/entryPoint.js'
import type { KeySource } from '../../signing/openSigner.js'
import type { TransactionType } from '../../signing/transactionType.js'
import type { ChargedGas } from './chargedGas.js'
import type { DataFeeKind } from './dataFee.js'
import type { SendingDefinition } from './sending.js'
import type { SequencerDefinition, TokenDefinition } from './tokenDefinition.js'
import type { ValidationSettings } from './validationSettings.js'

/** One chain as data. Every chain-dependent choice is a field here, never a test of the chain id. */
export type ChainDefinition = NetworkSettings &
  ExecutorSettings &
  BundleSettings &
  PoolSettings &
  ValidationSettings &
  TokenSettings

/** The network, its nodes and the contracts that are used on it. */
export type NetworkSettings = {
  readonly chainId: number
  readonly name: string
  /** JSON-RPC endpoints of nodes, preferred first. */
  readonly rpcUrls: readonly string[]
  /** ws:// or wss:// endpoint that announces new heads, where there is one. */
  readonly headsUrl?: string | undefined
  /** Milliseconds between two requests for the head. */
  readonly pollInterval: number
  /** Blocks after which a block counts as final. */
  readonly finalityDepth: number
  /** Blocks that one eth_getLogs may span. */
  readonly logRange: number
  /** Symbol of the coin in which gas is paid; absent = ETH. */
  readonly nativeCoin?: string | undefined
  /** The transactions that its nodes take; absent = `eip1559`. */
  readonly transactionType?: TransactionType | undefined
  /** wei per gas: the tip below which nodes take no transaction; `linea` = as each header tells. Absent = 0. */
  readonly minimumTip?: bigint | 'linea' | undefined
  /** The gas for which the chain takes money; absent = `used`. */
  readonly chargedGas?: ChargedGas | undefined
  /** Whether the chain has the floor price of calldata (EIP-7623); absent = yes. */
  readonly calldataFloor?: boolean | undefined
  /** The way in which the chain charges for a transaction's bytes; absent = `none`. */
  readonly dataFee?: DataFeeKind | undefined
  /** Whether the pending block of its nodes holds what the sequencer has promised (Flashblocks); absent = no. */
  readonly preconfirmations?: boolean | undefined
  /** Whether clients may read the node through the service: those who know one URL only. */
  readonly nodeMethods: boolean
  /** Preferred first; empty = every canonical one that is on the chain, see `requireEntryPoints`. */
  readonly entryPoints: readonly { readonly version: Version; readonly address: Address }[]
  /** Address of our TankFactory, also before the first tank is made. */
  readonly tankFactory: Address
}

/** The keys that send bundles, and their money. */
export type ExecutorSettings = {
  /** Places of the executors' keys; empty in a process that does not bundle. */
  readonly executorKeys: readonly KeySource[]
  /** wei below which an executor sends nothing new. */
  readonly executorMinBalance: bigint
  /** Bundles that one executor may have in flight. */
  readonly maxBundlesPerExecutor: number
  /** The key that refills executors, if there is one. */
  readonly treasury: Treasury | undefined
  /** Receives the fees of handleOps; absent = the executor that sends. */
  readonly beneficiary: Address | undefined
}

/** The size of bundles and the time between them. */
export type BundleSettings = {
  /** Gas of one bundle transaction at most (EIP-7825). */
  readonly maxBundleGas: bigint
  /** Bytes of one bundle transaction at most. */
  readonly maxBundleBytes: number
  /**
   * Operations that share a bundle's fixed costs in preVerificationGas, at least 1; `auto` = as many as nearly all
   * bundles lately could have had.
   */
  readonly expectedBundleSize: number | 'auto'
  /** Milliseconds that an operation waits for others to share a bundle with. */
  readonly maxBundleWait: number
  /** Milliseconds without inclusion after which a bundle's fees are raised. */
  readonly resubmitAfter: number
  /** The way in which bundles are sent; absent = public. */
  readonly sending?: SendingDefinition | undefined
}

/** The bounds of the pool. */
export type PoolSettings = {
  /** Gas that verification may ask for. */
  readonly maxVerificationGas: bigint
  /** Pending operations of one sender at most. */
  readonly maxOperationsPerSender: number
  /** Pending operations of one app at most. */
  readonly maxOperationsPerApp: number
  /** Pending operations in all at most. */
  readonly maxOperations: number
  /** Seconds for which an operation waits for a bundle at most. */
  readonly maxPoolAge: number
}

/** The tokens with which gas can be paid, and their prices. */
export type TokenSettings = {
  /** Tokens besides the native coin; each address once. */
  readonly tokens: readonly TokenDefinition[]
  readonly sequencerFeed?: SequencerDefinition | undefined
  /** Seconds for which a token's price is used again. */
  readonly priceMaxAge: number
  /** Seconds for which a sender that kept a tank from its charge must pay beforehand. */
  readonly strikeSeconds: number
}

/** The key that refills executors. */
export type Treasury = {
  readonly key: KeySource
  /** wei: an executor that has less is refilled. */
  readonly refillBelow: bigint
  /** wei that an executor has after it was refilled. */
  readonly refillTo: bigint
}
