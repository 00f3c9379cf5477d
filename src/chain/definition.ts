import type { Address } from 'viem'
import type { Version } from '../entrypoint/entryPoint.js'
import type { KeySource } from '../signing/openSigner.js'
import type { SequencerDefinition, TokenDefinition } from './tokenDefinition.js'

/** One chain as data. Every chain-dependent choice is a field here, never a test of the chain id. */
export type ChainDefinition = {
  readonly chainId: number
  readonly name: string
  /** JSON-RPC endpoints of nodes, preferred first. */
  readonly rpcUrls: readonly string[]
  /** ws:// or wss:// endpoint that announces new heads, where there is one. */
  readonly headsUrl?: string | undefined
  readonly entryPoints: readonly { readonly version: Version; readonly address: Address }[]
  /** Where our TankFactory is, or is going to be once the first tank is made. */
  readonly tankFactory: Address
  /** Where the keys of the executors are; empty in a process that does not bundle. */
  readonly executorKeys: readonly KeySource[]
  /** wei with less than which an executor sends nothing new. */
  readonly executorMinBalance: bigint
  /** Bundles that one executor may have in flight. */
  readonly maxBundlesPerExecutor: number
  /** The key that refills executors, when one shall. */
  readonly treasury: Treasury | undefined
  /** Receives the fees of handleOps; absent = the executor that sends. */
  readonly beneficiary: Address | undefined
  /** How often the head is asked for, in milliseconds. */
  readonly pollInterval: number
  /** Gas of one bundle transaction at most (EIP-7825). */
  readonly maxBundleGas: bigint
  /** Bytes of one bundle transaction at most. */
  readonly maxBundleBytes: number
  /** Operations that share a bundle's fixed costs in preVerificationGas, at least 1. */
  readonly expectedBundleSize: number
  /** How long an operation waits for others to share a bundle with, in milliseconds. */
  readonly maxBundleWait: number
  /** Gas that verification may ask for. */
  readonly maxVerificationGas: bigint
  /** After how many milliseconds without inclusion a bundle's fees are raised. */
  readonly resubmitAfter: number
  /** Blocks after which a block counts as final. */
  readonly finalityDepth: number
  /** Blocks that one eth_getLogs may span. */
  readonly logRange: number
  /** Pending operations of one sender at most. */
  readonly maxOperationsPerSender: number
  /** Pending operations of one app at most. */
  readonly maxOperationsPerApp: number
  /** Pending operations in all at most. */
  readonly maxOperations: number
  /** How operations are judged by ERC-7562: see RuleMode. */
  readonly rules: 'full' | 'partial' | 'off'
  /** Who validates operations: see EngineChoice. */
  readonly validationEngine: 'auto' | 'inProcess' | 'node'
  /** Share, 0 to 1, of our EVM's validations that the node repeats to compare. */
  readonly comparedShare: number
  /** Which limits of ERC-7562 hold: see LIMIT_PROFILES. */
  readonly limitProfile: 'canonical' | 'lenient'
  /** wei from which an entity counts as staked (MIN_STAKE_VALUE). */
  readonly minimumStake: bigint
  /** Seconds for which a stake must be locked (MIN_UNSTAKE_DELAY). */
  readonly minimumUnstakeDelay: number
  /** What gas can be paid with besides the native coin; each address once. */
  readonly tokens: readonly TokenDefinition[]
  readonly sequencerFeed?: SequencerDefinition | undefined
  /** Seconds for which a token's price is used again. */
  readonly priceMaxAge: number
  /** Seconds for which a sender who kept a tank from its charge must pay beforehand. */
  readonly strikeSeconds: number
}

export type Treasury = {
  readonly key: KeySource
  /** wei: an executor that has less is refilled. */
  readonly refillBelow: bigint
  /** wei that it has then. */
  readonly refillTo: bigint
}
