import type { Head } from '../head.js'

/** A node that has told its head. */
export type Voter = {
  readonly head: Head
  /** Its block with that number; undefined when it has none. */
  at(number: bigint): Promise<Head | undefined>
}

/** The number of `configured` nodes that must have the same block: most of them; of two, either one. */
export function quorumOf(configured: number): number {
  return configured < 3 ? 1 : Math.floor(configured / 2) + 1
}

/**
 * The highest block that `quorum` voters have, and the voters that have it. Voters that are further on are asked for
 * the block that they have in its place, so that nodes of unequal speed agree and one on a branch of its
 * own is outvoted. With a quorum of one it is the highest head, of equally high ones the first.
 * Undefined when the voters have no such block.
 */
export async function agreeOnHead<Each extends Voter>(
  voters: readonly Each[],
  quorum: number,
): Promise<{ readonly head: Head; readonly by: readonly Each[] } | undefined> {
  const numbers = voters.map(({ head }) => head.number).sort((a, b) => (a < b ? 1 : -1))
  for (const number of new Set(numbers.slice(quorum - 1))) {
    const blocks = await Promise.all(voters.map((voter) => blockAt(voter, number)))
    for (const head of blocks) {
      const by = voters.filter((_, i) => head !== undefined && blocks[i]?.hash === head.hash)
      if (head !== undefined && by.length >= quorum) return { head, by }
    }
  }
  return undefined
}

async function blockAt(voter: Voter, number: bigint): Promise<Head | undefined> {
  if (voter.head.number === number) return voter.head
  return voter.head.number < number ? undefined : voter.at(number)
}
