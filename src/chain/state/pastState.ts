import type { Hex } from 'viem'
import type { Miss } from '../../evm/index.js'
import { BlockGone } from '../blockReads.js'
import type { Head } from '../head.js'
import { getBlock } from '../nodeReads.js'
import type { KnownBlock } from './blockView.js'
import { type ChainViews, newView } from './chainViews.js'

/** A state in the environment of a mined block, as far as it is known. */
export type PastState = {
  readonly known: KnownBlock
  /** Reads parts of it that are not known yet, and resolves to whether the node had to be asked. */
  fetch(misses: readonly Miss[]): Promise<boolean>
}

/** Opens the state with which block `hash` begins. Throws BlockGone when the node does not have the block or the one before. */
export async function openStateBefore(views: ChainViews, hash: Hex): Promise<PastState> {
  const mined = await requireBlock(views, hash)
  return openIn(views, mined, await requireBlock(views, mined.parentHash))
}

/** Opens the state of `newest` in the environment of block `hash`. Throws BlockGone when the node does not have that block. */
export async function openNewestState(
  views: ChainViews,
  hash: Hex,
  newest: Head,
): Promise<PastState> {
  return openIn(views, await requireBlock(views, hash), newest)
}

async function openIn(views: ChainViews, mined: Head, head: Head): Promise<PastState> {
  const view = await newView(views, head)
  const environment = await newView(views, mined)
  await environment.fetch([])
  const block = {
    ...environment.block,
    blockHash: (number: bigint) =>
      number === head.number ? head.hash : view.block.blockHash(number),
  }
  return {
    known: {
      head,
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
