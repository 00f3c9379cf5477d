import type { Address, Hex } from 'viem'
import type { Version } from '../entrypoint/entryPoint.js'

/** One chain as data. Every chain-dependent choice is a field here, never a test of the chain id. */
export type ChainDefinition = {
  readonly chainId: number
  readonly name: string
  /** JSON-RPC endpoints of nodes, preferred first. */
  readonly rpcUrls: readonly string[]
  readonly entryPoints: readonly { readonly version: Version; readonly address: Address }[]
  /** Where our TankFactory is, or is going to be once the first tank is made. */
  readonly tankFactory: Address
  /** Private keys of the executors. */
  readonly executorKeys: readonly Hex[]
  /** Receives the fees of handleOps; absent = the executor that sends. */
  readonly beneficiary: Address | undefined
  /** How often the head is asked for, in milliseconds. */
  readonly pollInterval: number
  /** Gas of one bundle transaction at most (EIP-7825). */
  readonly maxBundleGas: bigint
  /** Bytes of one bundle transaction at most. */
  readonly maxBundleBytes: number
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
  /** Pending operations in all at most. */
  readonly maxOperations: number
}
