import type { Address, Hex } from 'viem'
import type { Fork } from './forks.js'
import type { Precompile } from './precompiles/index.js'

/** The block in which a run takes place. */
export type BlockEnv = {
  fork: Fork
  /** Whether the floor price of calldata (EIP-7623) holds; absent = as the fork has it. */
  calldataFloor?: boolean | undefined
  chainId: bigint
  number: bigint
  /** Unix seconds. */
  timestamp: bigint
  /** EIP-7843: the slot of the consensus layer; absent = 0. */
  slotNumber?: bigint | undefined
  coinbase: Address
  gasLimit: bigint
  prevRandao: Hex
  /** Wei per gas. A node's `eth_call` without a gas price may show contracts 0 here (geth does). */
  baseFee: bigint
  /** Wei per blob gas. */
  blobBaseFee: bigint
  /** Hash of one of the 256 blocks before `number`; `undefined` when unknown. */
  blockHash(number: bigint): Hex | undefined
  /** Precompiles by address that the chain has besides, or instead of, those of its fork. */
  chainPrecompiles?: ReadonlyMap<number, Precompile>
  /** Addresses with precompiles that this EVM does not have: calling one is `unsupported`. */
  unknownPrecompiles?: ReadonlySet<Address>
}
