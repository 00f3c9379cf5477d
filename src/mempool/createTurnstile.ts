import { OverloadedError } from '../errors/requestErrors.js'

/** A function that does a piece of work unless too many are under way. */
export type Turnstile = <Result>(work: () => Promise<Result>) => Promise<Result>

/**
 * A turnstile that lets at most `capacity` pieces of work be under way at once and refuses more with
 * OverloadedError, before any work for them: a queue that only grows helps no client, and takes memory.
 */
export function createTurnstile(capacity: number): Turnstile {
  let inside = 0
  return async (work) => {
    if (inside >= capacity) throw new OverloadedError(inside)
    inside += 1
    try {
      return await work()
    } finally {
      inside -= 1
    }
  }
}
