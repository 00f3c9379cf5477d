import { Lru } from './lru.js'

/** Answers that are remembered at once by one memory. */
const CAPACITY = 10_000

/**
 * A memory that asks for the answer of a name at most once in `age` milliseconds, whoever wants it and however
 * often; a failure stands as long. For what many callers may want and each question costs somebody else.
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
