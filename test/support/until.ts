import { setTimeout as delay } from 'node:timers/promises'

const ENOUGH_TRIES = 30

/**
 * Resolves to the first answer that is neither undefined, null nor false.
 * @throws Error when none came within `deadline` milliseconds and enough tries, which only a defect needs: where a try
 * is a round of bundling, a busy machine makes few of them in that time
 */
export async function until<T>(
  ask: () => Promise<T | undefined | null | false>,
  deadline = 90_000,
): Promise<T> {
  const end = Date.now() + deadline
  for (let tries = 1; ; tries++) {
    const answer = await ask()
    if (answer !== undefined && answer !== null && answer !== false) return answer
    if (Date.now() > end && tries >= ENOUGH_TRIES)
      throw new Error(`nothing of it within ${deadline} ms: ${ask}`)
    await delay(10)
  }
}
