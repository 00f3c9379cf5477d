import { Lru } from './lru.js'

/** Answers that are remembered at once by one memory. */
const CAPACITY = 10_000

/**
 * A cache that asks for the answer of a name at most once in `age` milliseconds, however many callers want it; failures
 * are cached too. For questions that cost somebody else.
 */
export function createRecent<Answer>(
  age: number,
): (name: string, ask: () => Promise<Answer>) => Promise<Answer> {
  const asked = new Lru<string, { readonly at: number; readonly answer: Promise<Answer> }>(CAPACITY)
  return (name, ask) => {
    const last = asked.get(name)
    if (last !== undefined && performance.now() - last.at < age) return last.answer
    const answer = ask()
    asked.set(name, { at: performance.now(), answer })
    return answer
  }
}
