import type { Logger } from 'pino'

/** Logs once that a part is away and once that it is back, and none of the attempts between. */
export type StateLog = {
  away(facts: object): void
  back(): void
}

/** A log of the states of one part; `away` and `back` are its lines, the second with the seconds between. */
export function createStateLog(logger: Logger, away: string, back: string): StateLog {
  let since: number | undefined
  return {
    away(facts) {
      if (since !== undefined) return
      since = performance.now()
      logger.warn(facts, away)
    },
    back() {
      if (since === undefined) return
      logger.info({ seconds: Math.round((performance.now() - since) / 1_000) }, back)
      since = undefined
    },
  }
}
