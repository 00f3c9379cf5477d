import type { Address, Hex } from 'viem'
import type { Log } from '../entrypoint/entryPoint.js'
import type { NodeClient } from './nodeClient.js'
import {
  decodeLog,
  decodeReceipt,
  type RawLog,
  type RawReceipt,
  type TransactionReceipt,
} from './transactionReceipt.js'

/** A block's header as Purser follows it. `baseFee` in wei per gas, 0 on a chain without base fee. */
export type Head = {
  readonly number: bigint
  readonly hash: Hex
  readonly parentHash: Hex
  /** Unix seconds */
  readonly timestamp: number
  readonly baseFee: bigint
}

/** A block by name, by number, or by hash (32 bytes). */
export type BlockId = 'latest' | 'pending' | bigint | Hex

/** Reads by hash pin the block and refuse one that left the canonical chain (EIP-1898). */
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

export function headRequest(block: BlockId) {
  const byHash = typeof block === 'string' && block.startsWith('0x')
  return byHash
    ? { method: 'eth_getBlockByHash', params: [block, false] }
    : { method: 'eth_getBlockByNumber', params: [blockParameter(block), false] }
}

export function decodeHead(raw: unknown): Head | undefined {
  if (raw === null || raw === undefined) return undefined
  const { number, hash, parentHash, timestamp, baseFeePerGas } = raw as RawBlock
  return {
    number: BigInt(number),
    hash,
    parentHash,
    timestamp: Number(timestamp),
    baseFee: BigInt(baseFeePerGas ?? 0),
  }
}

/** The header of `block`; undefined when the node has no such block. */
export async function getBlock(node: NodeClient, block: BlockId): Promise<Head | undefined> {
  const { method, params } = headRequest(block)
  return decodeHead(await node.request(method, params))
}

export function getCode(
  node: NodeClient,
  address: Address,
  block: BlockId = 'latest',
): Promise<Hex> {
  return node.request('eth_getCode', [address, blockParameter(block)])
}

/** wei */
export async function getBalance(
  node: NodeClient,
  address: Address,
  block: BlockId = 'latest',
): Promise<bigint> {
  return BigInt(await node.request<Hex>('eth_getBalance', [address, blockParameter(block)]))
}

/** The next nonce of `address` as an externally owned account. */
export async function getTransactionCount(
  node: NodeClient,
  address: Address,
  block: BlockId = 'latest',
): Promise<number> {
  return Number(
    await node.request<Hex>('eth_getTransactionCount', [address, blockParameter(block)]),
  )
}

/** Sends signed bytes once and returns the hash. See createNodeClient on why it is not repeated. */
export function sendRawTransaction(node: NodeClient, signed: Hex): Promise<Hex> {
  return node.request('eth_sendRawTransaction', [signed])
}

/** Undefined while the transaction is not in a block. */
export async function getTransactionReceipt(
  node: NodeClient,
  hash: Hex,
): Promise<TransactionReceipt | undefined> {
  const raw = await node.request<RawReceipt | null>('eth_getTransactionReceipt', [hash])
  return raw ? decodeReceipt(raw) : undefined
}

export type LogFilter = {
  readonly address: Address | readonly Address[]
  /** One entry per topic position: null = any, a list = any of them. */
  readonly topics: readonly (Hex | readonly Hex[] | null)[]
} & (
  | { readonly fromBlock: bigint; readonly toBlock: bigint }
  /** All logs of one block, refused when the node does not have it. */
  | { readonly blockHash: Hex }
)

export async function getLogs(node: NodeClient, filter: LogFilter): Promise<readonly Log[]> {
  const { address, topics } = filter
  const range =
    'blockHash' in filter
      ? { blockHash: filter.blockHash }
      : {
          fromBlock: blockParameter(filter.fromBlock),
          toBlock: blockParameter(filter.toBlock),
        }
  const raw = await node.request<RawLog[]>('eth_getLogs', [{ address, topics, ...range }])
  return raw.map(decodeLog)
}
