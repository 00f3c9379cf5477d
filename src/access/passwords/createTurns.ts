import { RateLimitError } from '../../errors/limitErrors.js'

/** Passwords hashed at once: the pool of threads has four, which also read files and names. */
const RUNNING = 2
/** Those that wait, for some three seconds. */
const WAITING = 20
/** Of one network, running or waiting: who fills the queue from one place leaves room for others. */
const PER_REQUESTER = 4

/** Lets a few pieces of work run at once and a bounded number wait, in their order. */
export function createTurns() {
  const waiting: (() => void)[] = []
  const held = new Map<string, number>()
  let running = 0

  const leave = (requester: string): void => {
    const left = (held.get(requester) ?? 1) - 1
    if (left === 0) held.delete(requester)
    else held.set(requester, left)
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }

  return {
    /** Throws RateLimitError when the queue is full, or the requester has its share of it. */
    async take<Result>(requester: string, work: () => Promise<Result>): Promise<Result> {
      const count = held.get(requester) ?? 0
      if (count >= PER_REQUESTER || waiting.length >= WAITING)
        throw new RateLimitError('passwords', 1)
      held.set(requester, count + 1)
      if (running < RUNNING) running += 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await work()
      } finally {
        leave(requester)
      }
    },
  }
}
