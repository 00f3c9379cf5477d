import { CannotSimulateError } from '../../errors/simulationErrors.js'
import type { Miss } from '../../evm/index.js'

/** Searches until what their trials need is known; state that leads from slot to slot takes more. */
const MAX_ROUNDS = 8
/** Accounts and slots that the trials of one search may ask for. */
const MAX_READS = 4_000

/** Reads what is missing of the state that a search runs on. */
export type ReadMore = (misses: readonly Miss[]) => Promise<void>

/**
 * The result of a search whose trials may need state that no run before them needed: each trial has a
 * hash of its own, and so have the slots that an account or a paymaster names by the hash, or by the
 * signer recovered from it. A trial goes on with zeros there, which such slots nearly always hold. What
 * all trials missed is then read in one batch, and the search is repeated until nothing is missing.
 *
 * Throws CannotSimulateError when that takes too many rounds or reads.
 */
export async function settleSearch<Result>(
  readMore: ReadMore,
  search: (onMisses: (misses: readonly Miss[]) => void) => Promise<Result>,
): Promise<Result> {
  let reads = 0
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const missed: Miss[] = []
    const result = await search((misses) => {
      reads += misses.length
      if (reads > MAX_READS) throw new CannotSimulateError('its gas search touches too much state')
      missed.push(...misses)
    })
    if (missed.length === 0) return result
    await readMore(missed)
  }
  throw new CannotSimulateError(`its gas search needs more state after ${MAX_ROUNDS} readings`)
}
