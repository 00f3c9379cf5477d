import type { Address, Hex } from 'viem'
import type { Log } from '../entrypoint/entryPoint.js'
import { type BlockId, blockParameter, decodeHead, type Head, headRequest } from './head.js'
import type { NodeClient } from './nodeClient.js'
import { NodeRpcError } from './nodeErrors.js'
import {
  decodeLog,
  decodeReceipt,
  type RawLog,
  type RawReceipt,
  type TransactionReceipt,
} from './transactionReceipt.js'

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

/**
 * The logs of single blocks by their hashes, in one batch.
 * @throws when the node does not have one of these blocks
 */
export async function getLogsOfBlocks(
  node: NodeClient,
  filter: Pick<LogFilter, 'address' | 'topics'>,
  hashes: readonly Hex[],
): Promise<readonly Log[]> {
  if (hashes.length === 0) return []
  const { address, topics } = filter
  const answers = await node.batch(
    hashes.map((blockHash) => ({
      method: 'eth_getLogs',
      params: [{ address, topics, blockHash }],
    })),
  )
  return answers.flatMap((answer) => {
    if (!answer.ok) throw answer.error
    return (answer.result as RawLog[]).map(decodeLog)
  })
}

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

/** JSON-RPC: the parameters are invalid. Nodes answer so that cannot read by block hash (EIP-1898). */
const INVALID_PARAMS = -32602

/**
 * A read of the state at `head`: by its hash, since a node that is building the next block may answer with
 * that one's state when it is asked by number; by number on a node that cannot read by hash.
 */
export async function readAtHead<T>(head: Head, read: (block: BlockId) => Promise<T>): Promise<T> {
  try {
    return await read(head.hash)
  } catch (error) {
    if (error instanceof NodeRpcError && error.code === INVALID_PARAMS) return read(head.number)
    throw error
  }
}
