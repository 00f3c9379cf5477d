import type { Hex } from 'viem'
import type { DataFeeKind } from '../chain/definition/dataFee.js'
import { blockParameter, type Head } from '../chain/head.js'
import type { NodeClient } from '../chain/nodeClient.js'
import { readAtHead } from '../chain/nodeReads.js'
import { type StackReader, stackReaders } from './dataFee/stackReaders.js'
import type { DataPrice } from './dataPrice.js'

const readBy = new WeakMap<NodeClient, { hash: Hex; price: Promise<DataPrice> }>()

/**
 * The price of data after `head`, by one batch of requests; those who ask at one head share it.
 * Undefined, and without any request, on a chain that has none.
 */
export async function dataPriceAt(
  node: NodeClient,
  dataFee: DataFeeKind | undefined,
  head: Head,
): Promise<DataPrice | undefined> {
  const reader = dataFee && stackReaders[dataFee]
  if (reader === undefined) return undefined
  const known = readBy.get(node)
  if (known?.hash === head.hash) return known.price
  const price = readDataPrice(node, reader, head)
  readBy.set(node, { hash: head.hash, price })
  price.catch(() => {
    if (readBy.get(node)?.price === price) readBy.delete(node)
  })
  return price
}

/** The price of data that held inside `block`, for what was included there. */
export async function dataPriceIn(
  node: NodeClient,
  dataFee: DataFeeKind | undefined,
  block: Head,
): Promise<DataPrice | undefined> {
  const reader = dataFee && stackReaders[dataFee]
  return reader && readDataPrice(node, reader, block)
}

function readDataPrice(node: NodeClient, reader: StackReader, head: Head): Promise<DataPrice> {
  return readAtHead(head, async (block) => {
    const answers = await node.batch(reader.calls(blockParameter(block), head))
    const results = answers.map((answer) => {
      if (!answer.ok) throw answer.error
      return answer.result
    })
    return reader.price(results, head)
  })
}
