import type { Hex } from 'viem'
import type { NodeCall } from './jsonRpc.js'

/** A block's header as Purser follows it. `baseFee` in wei per gas, 0 on a chain without base fee. */
export type Head = {
  readonly number: bigint
  readonly hash: Hex
  readonly parentHash: Hex
  /** Unix seconds */
  readonly timestamp: number
  readonly baseFee: bigint
  /** The number of header fields that forks have brought: where it changes, so did the rules. */
  readonly forkFields?: number
}

/** A block by name, by number, or by hash (32 bytes). */
export type BlockId = 'latest' | 'pending' | bigint | Hex

/**
 * A block as a parameter of JSON-RPC. A read by hash fails when the block left the canonical chain
 * (EIP-1898).
 */
export function blockParameter(block: BlockId): unknown {
  if (typeof block === 'bigint') return `0x${block.toString(16)}`
  if (block === 'latest' || block === 'pending') return block
  return { blockHash: block, requireCanonical: true }
}

type RawBlock = {
  readonly number: Hex
  readonly hash: Hex
  readonly parentHash: Hex
  readonly timestamp: Hex
  readonly baseFeePerGas?: Hex
}

const forkFields = ['withdrawalsRoot', 'blobGasUsed', 'requestsHash', 'blockAccessListHash']

/** The call that asks a node for the header of `block`. */
export function headRequest(block: BlockId): NodeCall {
  const byHash = typeof block === 'string' && block.startsWith('0x')
  return byHash
    ? { method: 'eth_getBlockByHash', params: [block, false] }
    : { method: 'eth_getBlockByNumber', params: [blockParameter(block), false] }
}

/** The header in a block as JSON-RPC gives it; undefined when the node has no such block. */
export function decodeHead(raw: unknown): Head | undefined {
  if (raw === null || raw === undefined) return undefined
  const { number, hash, parentHash, timestamp, baseFeePerGas } = raw as RawBlock
  return {
    number: BigInt(number),
    hash,
    parentHash,
    timestamp: Number(timestamp),
    baseFee: BigInt(baseFeePerGas ?? 0),
    forkFields: forkFields.filter((field) => field in (raw as object)).length,
  }
}
