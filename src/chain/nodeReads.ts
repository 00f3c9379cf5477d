import type { Address, Hex } from 'viem'
import { greatest, smallest } from '../base/bigints.js'
import type { Log } from '../erc4337/entryPoint.js'
import { otherChain } from './chainIdentity.js'
import { type BlockId, blockParameter, decodeHead, type Head, headRequest } from './head.js'
import type { NodeCall } from './jsonRpc.js'
import { MAX_CALLS_PER_BATCH, type NodeClient } from './nodeClient.js'
import { indexing, NodeRpcError, NodeUnavailableError } from './nodeErrors.js'
import {
  decodeLog,
  decodeReceipt,
  type RawLog,
  type RawReceipt,
  type TransactionReceipt,
} from './transactionReceipt.js'

/**
 * The answers to `calls`. Each batch begins with `proofs`, so that the backend that answers the calls answers these too.
 * @throws what `check` throws at the answers to the proofs
 */
export async function provenBatch(
  node: NodeClient,
  proofs: readonly NodeCall[],
  calls: readonly NodeCall[],
  check: (proofs: readonly unknown[]) => void,
): Promise<readonly unknown[]> {
  const found: unknown[] = []
  const step = MAX_CALLS_PER_BATCH - proofs.length
  for (let at = 0; at < calls.length; at += step) {
    const answers = await node.batch([...proofs, ...calls.slice(at, at + step)])
    const results = answers.map((answer) => {
      if (!answer.ok) throw answer.error
      return answer.result
    })
    check(results.slice(0, proofs.length))
    found.push(...results.slice(proofs.length))
  }
  return found
}

/**
 * The headers with these numbers that the node's chain has, by number. Chain id and block 0 are asked for in each
 * exchange: numbers alone do not show which chain answers.
 * @throws NodeUnavailableError when another chain does
 */
export async function canonicalBlocks(
  node: NodeClient,
  numbers: readonly bigint[],
): Promise<Map<bigint, Head>> {
  const { chain } = node
  const proofs = chain ? [{ method: 'eth_chainId', params: [] }, headRequest(0n)] : []
  const found = await provenBatch(node, proofs, numbers.map(headRequest), ([id, first]) => {
    const serves = chain && otherChain(chain, id, decodeHead(first)?.hash)
    if (serves !== undefined) throw new NodeUnavailableError(`it answers from ${serves}`)
  })
  const blocks = found.map(decodeHead).filter((block) => block !== undefined)
  return new Map(blocks.map((block) => [block.number, block]))
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

/**
 * Undefined while the transaction is not in a block.
 * @throws NodeUnavailableError also where the node does not know yet which transactions it has
 */
export async function getTransactionReceipt(
  node: NodeClient,
  hash: Hex,
): Promise<TransactionReceipt | undefined> {
  try {
    const raw = await node.request<RawReceipt | null>('eth_getTransactionReceipt', [hash])
    const receipt = raw ? decodeReceipt(raw) : undefined
    return receipt
  } catch (error) {
    if (error instanceof NodeRpcError && indexing.test(error.message))
      throw new NodeUnavailableError('eth_getTransactionReceipt', error)
    throw error
  }
}

/** The receipts of those transactions that are in a block, in one batch. */
export async function getTransactionReceipts(
  node: NodeClient,
  hashes: readonly Hex[],
): Promise<TransactionReceipt[]> {
  if (hashes.length === 0) return []
  const calls = hashes.map((hash) => ({ method: 'eth_getTransactionReceipt', params: [hash] }))
  const raws = (await node.batch(calls)).flatMap((answer) => {
    if (!answer.ok) throw answer.error
    return answer.result ? [answer.result as RawReceipt] : []
  })
  return raws.map(decodeReceipt)
}

type LogFilter = {
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

type LogsWanted = Pick<LogFilter, 'address' | 'topics'>

/**
 * The logs of a range of blocks, in as many requests as the node asks for by its refusals: providers bound the blocks of one
 * eth_getLogs, and the logs in its answer.
 * @throws NodeRpcError when it refuses a single block
 */
export async function getLogsOfRange(
  node: NodeClient,
  { address, topics }: LogsWanted,
  fromBlock: bigint,
  toBlock: bigint,
): Promise<readonly Log[]> {
  const logs: Log[] = []
  let next = fromBlock
  while (next <= toBlock) {
    const span = logSpan(node, toBlock - next + 1n)
    const range = { fromBlock: next, toBlock: next + span - 1n }
    const answer = await unlessRefused(node, span, getLogs(node, { address, topics, ...range }))
    if (answer === undefined) continue
    logs.push(...answer)
    next += span
  }
  return logs
}

/** The logs of the last `most` blocks up to `toBlock`, or of as many of them as the node gives at once. */
export async function getNewestLogs(
  node: NodeClient,
  { address, topics }: LogsWanted,
  toBlock: bigint,
  most: bigint,
): Promise<readonly Log[]> {
  for (;;) {
    const span = logSpan(node, most < toBlock + 1n ? most : toBlock + 1n)
    const range = { fromBlock: toBlock - span + 1n, toBlock }
    const answer = await unlessRefused(node, span, getLogs(node, { address, topics, ...range }))
    if (answer !== undefined) return answer
  }
}

/** The most blocks that one eth_getLogs may span, as the node's refusals have shown; undefined = any number. */
function createLogSpan(): { most: bigint | undefined } {
  return { most: undefined }
}

/** Blocks to ask for at once, of `wanted` ones. */
function logSpan(node: NodeClient, wanted: bigint): bigint {
  return smallest(node.memory(createLogSpan).most ?? wanted, wanted)
}

/** The answer to a request for logs of `span` blocks; undefined where the node may give those of half as many. */
async function unlessRefused(
  node: NodeClient,
  span: bigint,
  asked: Promise<readonly Log[]>,
): Promise<readonly Log[] | undefined> {
  const memory = node.memory(createLogSpan)
  try {
    const answer = await asked
    // An eighth more may go next, since full blocks are refused earlier than empty ones.
    if (memory.most === span) memory.most = span + greatest(span / 8n, 1n)
    return answer
  } catch (error) {
    if (!(error instanceof NodeRpcError)) throw error
    // Where a single block is refused, the number of blocks is not the reason.
    memory.most = span > 1n ? span / 2n : undefined
    if (span > 1n) return undefined
    throw error
  }
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
