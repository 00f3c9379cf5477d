import { setTimeout as delay } from 'node:timers/promises'

/** A run that may take long; `elapsed` counts the milliseconds for which it keeps the thread. */
type HeavyWork<Result> = (count: (elapsed: number) => void) => Promise<Result>

let last: Promise<unknown> = Promise.resolve()

/**
 * Does `work` when no other heavy work is under way in the process. The next one begins only after a rest
 * as long as this one kept the thread: heavy work of whomever leaves half of the thread to all others,
 * who wait for one run of it at most.
 */
export async function takeHeavyTurn<Result>(work: HeavyWork<Result>): Promise<Result> {
  let elapsed = 0
  const begin = last.then(() =>
    work((milliseconds) => {
      elapsed += milliseconds
    }),
  )
  last = begin.then(
    () => delay(elapsed),
    () => delay(elapsed),
  )
  return begin
}
