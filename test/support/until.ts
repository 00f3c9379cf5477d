import { setTimeout as delay } from 'node:timers/promises'

/**
 * Resolves to the first answer that is neither undefined, null nor false.
 * @throws Error when none came within `deadline` milliseconds, which only a defect needs
 */
export async function until<T>(
  ask: () => Promise<T | undefined | null | false>,
  deadline = 90_000,
): Promise<T> {
  const end = Date.now() + deadline
  for (;;) {
    const answer = await ask()
    if (answer !== undefined && answer !== null && answer !== false) return answer
    if (Date.now() > end) throw new Error(`nothing of it within ${deadline} ms: ${ask}`)
    await delay(10)
  }
}
