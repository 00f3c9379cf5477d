import type { Hex } from 'viem'
import type { Head } from '../head.js'

/** The last blocks of the canonical chain as we saw it, a gapless run by number. */
export type BlockMemory = ReadonlyMap<bigint, Hex>

export const REMEMBERED_BLOCKS = 64

/**
 * Memory after `blocks` (linked, oldest first) became canonical. Forgotten are the blocks that they
 * replace, those older than the limit and all before a gap.
 */
export function remember(memory: BlockMemory, blocks: readonly Head[]): BlockMemory {
  const first = blocks[0]
  const last = blocks.at(-1)
  if (first === undefined || last === undefined) return memory
  const limit = last.number - BigInt(REMEMBERED_BLOCKS)
  const continues = memory.get(first.number - 1n) === first.parentHash
  const next = new Map<bigint, Hex>()
  for (const [number, hash] of memory) {
    if (continues && number < first.number && number > limit) next.set(number, hash)
  }
  for (const { number, hash } of blocks) if (number > limit) next.set(number, hash)
  return next
}

/** Whether `blocks` (oldest first) link to each other by parent hash. */
export function linked(blocks: readonly Head[]): boolean {
  return blocks.every((block, i) => i === 0 || block.parentHash === blocks[i - 1]?.hash)
}
