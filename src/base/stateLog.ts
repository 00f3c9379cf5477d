import type { Logger } from 'pino'

/** Logs once that a part is away and once that it is back, and none of the attempts between. */

/** A log of the states of one part; `away` and `back` are its lines, the second with the seconds between. */
export function createStateLog(logger: Logger, away: string, back: string) {
  let since: number | undefined
  return {
    away(facts: object): void {
      if (since !== undefined) return
      since = performance.now()
      logger.warn(facts, away)
    },
    back(): void {
      if (since === undefined) return
      logger.info({ seconds: Math.round((performance.now() - since) / 1_000) }, back)
      since = undefined
    },
  }
}
