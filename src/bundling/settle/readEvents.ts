import type { Hex } from 'viem'
import { decodeHead, type Head, headRequest } from '../../chain/head.js'
import { getLogsOfBlocks, getLogsOfRange } from '../../chain/nodeReads.js'
import type { Log } from '../../entrypoint/entryPoint.js'
import type { BundlingContext } from '../bundlingContext.js'

export const USER_OPERATION_EVENT_TOPIC: Hex =
  '0x49628fd1471006c1482da88028e9ce4dbb080b815c9b0344d39e5a8e6ec1419f'

/**
 * Blocks so near the head that a node may not have them yet. Asked for a range that ends there, such a
 * node answers with the logs that it has, which looks like an answer; asked for a hash, it refuses.
 */
const YOUNG_BLOCKS = 64n

type EventContext = Pick<BundlingContext, 'entryPoints' | 'node'>

/**
 * All UserOperationEvents of our EntryPoints from block `from` to block `to`. Blocks near `head` are asked
 * for one by one, by their hashes, older ones as a range. Undefined when the node does not have all
 * these blocks, or when they are not one chain.
 */
export async function readEvents(
  { entryPoints, node }: EventContext,
  from: bigint,
  to: Head,
  head: Head,
): Promise<readonly Log[] | undefined> {
  const filter = {
    address: entryPoints.map(({ address }) => address),
    topics: [USER_OPERATION_EVENT_TOPIC],
  }
  const firstYoung = head.number - YOUNG_BLOCKS + 1n
  const splitAt = from > firstYoung ? from : firstYoung
  const young = await blocksUpTo(node, splitAt, to)
  if (young === undefined) return undefined
  const lastOld = to.number < splitAt ? to.number : splitAt - 1n
  const logs = await Promise.all([
    getLogsOfRange(node, filter, from, lastOld),
    getLogsOfBlocks(
      node,
      filter,
      young.map(({ hash }) => hash),
    ),
  ])
  return logs.flat()
}

/** The blocks from number `from` to `to`, each the parent of the next; undefined when they are not. */
async function blocksUpTo(
  node: EventContext['node'],
  from: bigint,
  to: Head,
): Promise<readonly Head[] | undefined> {
  if (to.number < from) return []
  const numbers = Array.from({ length: Number(to.number - from) }, (_, i) => from + BigInt(i))
  const answers = numbers.length === 0 ? [] : await node.batch(numbers.map(headRequest))
  const blocks: Head[] = []
  for (const answer of answers) {
    if (!answer.ok) throw answer.error
    const block = decodeHead(answer.result)
    if (block === undefined) return undefined
    blocks.push(block)
  }
  blocks.push(to)
  const isChain = blocks.every(({ parentHash }, i) => i === 0 || parentHash === blocks[i - 1]?.hash)
  return isChain ? blocks : undefined
}
