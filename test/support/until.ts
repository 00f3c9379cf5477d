import { setTimeout as delay } from 'node:timers/promises'

/** Resolves to the first answer that is neither undefined nor false; the test's timeout ends it. */
export async function until<T>(ask: () => Promise<T | undefined | false>): Promise<T> {
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== false) return answer
    await delay(10)
  }
}
