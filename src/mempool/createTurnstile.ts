import { OverloadedError } from '../errors/requestErrors.js'

/** Does a piece of work unless too many are under way. */
export type Turnstile = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * Lets `most` pieces of work be under way at once and refuses more with OverloadedError, before
 * anything was done for them: a queue that only grows helps nobody, and takes memory.
 */
export function createTurnstile(most: number): Turnstile {
  let inside = 0
  return async (work) => {
    if (inside >= most) throw new OverloadedError(inside)
    inside += 1
    try {
      return await work()
    } finally {
      inside -= 1
    }
  }
}
