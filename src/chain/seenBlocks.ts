import type { HeadFollower } from './headFollower.js'

/** Blocks whose times are remembered. */
const MOST_BLOCKS = 256

/** When this process first had a head at or above a block, Unix milliseconds; undefined = long ago, or not yet. */
export function createSeenBlocks(
  heads: Pick<HeadFollower, 'onHead'>,
): (block: bigint) => number | undefined {
  const seen: { readonly number: bigint; readonly at: number }[] = []
  heads.onHead(({ head: { number } }) => {
    if (number <= (seen.at(-1)?.number ?? -1n)) return
    seen.push({ number, at: Date.now() })
    if (seen.length > MOST_BLOCKS) seen.shift()
  })
  return (block) => {
    const at = seen.findIndex(({ number }) => number >= block)
    // Before the first one it may have been seen long before.
    return at < 1 && seen[at]?.number !== block ? undefined : seen[at]?.at
  }
}
