import { greatest } from '../../base/bigints.js'
import { decodeHead, type Head, headRequest } from '../head.js'
import type { NodeClient } from '../nodeClient.js'
import { type BlockMemory, linked, REMEMBERED_BLOCKS, remember } from './blockMemory.js'

type HeadChange = { readonly memory: BlockMemory; readonly reorgedFrom: bigint | undefined }

/**
 * The change of the chain up to `newest`, a block that we have not seen. Headers between are fetched in one batch,
 * at most as many as we remember; when the parent hashes do not meet our memory, one more batch of
 * the remembered numbers finds the fork. Undefined when blocks changed while we read: ask again later.
 */
export async function advance(
  node: NodeClient,
  memory: BlockMemory,
  newest: Head,
): Promise<HeadChange | undefined> {
  const numbers = [...memory.keys()]
  const top = numbers.at(-1) ?? newest.number
  const oldestWanted = newest.number - BigInt(REMEMBERED_BLOCKS) + 1n
  const firstMissing = top + 1n > oldestWanted ? top + 1n : oldestWanted
  const between = await headers(node, range(firstMissing, newest.number - 1n))
  const blocks = [...between, newest]
  if (blocks.length !== Number(greatest(newest.number - firstMissing, 0n)) + 1 || !linked(blocks)) {
    return undefined
  }
  const first = blocks[0] ?? newest
  if (memory.get(first.number - 1n) === first.parentHash && newest.number > top) {
    return { memory: remember(memory, blocks), reorgedFrom: undefined }
  }

  const known = await headers(
    node,
    numbers.filter((number) => number <= newest.number),
  )
  const kept = known.filter(({ number, hash }) => memory.get(number) === hash)
  const common = kept.at(-1)
  const reorgedFrom = common === undefined ? numbers[0] : common.number + 1n
  const canonical = known.filter(({ number }) => number < first.number)
  const joined = [...canonical, ...blocks]
  const history = linked(joined) ? joined : blocks
  return {
    memory: remember(new Map(), history),
    reorgedFrom: common?.number === top ? undefined : reorgedFrom,
  }
}

/** The canonical headers of `numbers` that the node has, in that order. */
async function headers(node: NodeClient, numbers: readonly bigint[]): Promise<readonly Head[]> {
  if (numbers.length === 0) return []
  const answers = await node.batch(numbers.map(headRequest))
  return answers.flatMap((answer) => {
    if (!answer.ok) throw answer.error
    return decodeHead(answer.result) ?? []
  })
}

function range(from: bigint, to: bigint): bigint[] {
  const numbers: bigint[] = []
  for (let number = from; number <= to; number++) numbers.push(number)
  return numbers
}
