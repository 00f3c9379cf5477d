import { CannotSimulateError, TooCostlyError } from '../../errors/simulationErrors.js'
import type { Miss, Outcome, State } from '../../evm/index.js'
import type { BlockView } from './blockView.js'

/** An execution that did not come to its end. */
export type Unfinished = Exclude<Outcome, { readonly kind: 'done' }>

/** The known state of a block. */
export type KnownBlock = State & Pick<BlockView, 'head' | 'block'>

/**
 * One execution in our EVM, with 'guess', on state that may still be incomplete; it may wait for its turn.
 * `reads` is the state that has been read for it.
 */
export type StateAttempt<Done> = (
  known: KnownBlock,
  reads: readonly Miss[],
) => Promise<Done | Unfinished>

/** Rounds of guessing; an execution that needs more follows its state from slot to slot. */
const MAX_ROUNDS = 24
/** Accounts and slots that one execution may ask for. */
const MAX_READS = 4_000

/**
 * Repeats `attempt` until no state that it needs is missing; `reads` has been read. Resolves also to whether state
 * was missing, and whether `fetch` had to ask the node for it. Throws CannotSimulateError when the EVM gives up.
 */
export async function untilKnown<Done extends { readonly kind: 'done' }>(
  known: KnownBlock,
  reads: readonly Miss[],
  fetch: (misses: readonly Miss[]) => Promise<boolean>,
  attempt: StateAttempt<Done>,
): Promise<{ readonly result: Done; readonly missed: boolean; readonly hasRead: boolean }> {
  let hasRead = false
  let missed = 0
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const end = await attempt(known, reads)
    if (end.kind !== 'missing') return { result: requireDone(end), missed: missed > 0, hasRead }
    missed += end.misses.length
    if (missed > MAX_READS) throw new CannotSimulateError('it touches too much state')
    hasRead = (await fetch(end.misses)) || hasRead
  }
  throw new CannotSimulateError(`its state is not known after ${MAX_ROUNDS} rounds of reading`)
}

function requireDone<Done extends { readonly kind: 'done' }>(
  end: Done | Exclude<Unfinished, { readonly kind: 'missing' }>,
): Done {
  switch (end.kind) {
    case 'done':
      return end
    case 'invalid':
      throw new Error(`no node would run it: ${end.reason}`)
    case 'exhausted':
      throw new TooCostlyError(end.reason)
    default:
      throw new CannotSimulateError(end.reason)
  }
}
