import type { Requester } from '../../base/requester.js'
import { FairQueue } from './fairQueue.js'

/** Milliseconds of one turn of the event loop that runs take, before all others that wait get the thread. */
const SLICE = 5

type Waiting = { readonly requester: Requester | undefined; readonly run: () => void }

const queue = new FairQueue<Waiting>()
/** The present turn of the event loop: milliseconds that runs took of it, and whether the next one is waited for. */
const turn = { taken: 0, isNextPlanned: false }

/**
 * Runs `run`, a short one, on the calling thread: at once where runs have taken little of this turn of the
 * event loop, else in a later turn. In between everything else has the thread. Of the parties
 * whose runs wait, the one that took least comes next; `requester` undefined = the service itself.
 */
export async function runInline<Result>(
  requester: Requester | undefined,
  run: () => Result,
): Promise<Result> {
  if (queue.size === 0 && turn.taken < SLICE) return timed(requester, run)
  return new Promise((resolve, reject) => {
    queue.push(requester, {
      requester,
      run() {
        try {
          resolve(run())
        } catch (error) {
          reject(error)
        }
      },
    })
    planTurn()
  })
}

function timed<Result>(requester: Requester | undefined, run: () => Result): Result {
  const begin = performance.now()
  try {
    return run()
  } finally {
    const elapsed = performance.now() - begin
    turn.taken += elapsed
    queue.charge(requester, elapsed)
    planTurn()
  }
}

function planTurn(): void {
  if (turn.isNextPlanned) return
  turn.isNextPlanned = true
  setImmediate(beginTurn)
}

function beginTurn(): void {
  turn.isNextPlanned = false
  turn.taken = 0
  while (turn.taken < SLICE) {
    const next = queue.take()
    if (next === undefined) return
    timed(next.requester, next.run)
  }
}
