import type { Hex } from 'viem'
import type { Miss } from '../../evm/index.js'
import { BlockGone } from '../blockReads.js'
import type { Head } from '../head.js'
import { getBlock } from '../nodeReads.js'
import { type ChainViews, newView } from './chainViews.js'
import type { KnownBlock } from './untilKnown.js'

/** The state with which a mined block begins, as far as it is known. */
export type StateBefore = {
  /** The block before, whose state that is. */
  readonly parent: Head
  /** That state, in the environment of the mined block. */
  readonly known: KnownBlock
  /** Reads parts of it that are not known yet, and resolves to whether the node had to be asked. */
  fetch(misses: readonly Miss[]): Promise<boolean>
}

/** Opens the state before block `hash`. Throws BlockGone when the node does not have one of the two blocks. */
export async function openStateBefore(views: ChainViews, hash: Hex): Promise<StateBefore> {
  const mined = await requireBlock(views, hash)
  const parent = await requireBlock(views, mined.parentHash)
  const view = await newView(views, parent)
  const environment = await newView(views, mined)
  await environment.fetch([])
  const block = {
    ...environment.block,
    blockHash: (number: bigint) =>
      number === parent.number ? parent.hash : view.block.blockHash(number),
  }
  return {
    parent,
    known: {
      head: parent,
      block,
      account: (address) => view.account(address),
      slot: (address, slot) => view.slot(address, slot),
    },
    fetch: (misses) => view.fetch(misses),
  }
}

async function requireBlock({ node }: ChainViews, hash: Hex): Promise<Head> {
  const block = await getBlock(node, hash)
  if (block === undefined) throw new BlockGone(`block ${hash} is unknown`)
  return block
}
