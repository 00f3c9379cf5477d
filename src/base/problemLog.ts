import type { Logger } from 'pino'
import { Lru } from './lru.js'

/** Things whose problems are known at once; of more, the one that was not looked at for longest is logged anew. */
const MAX_KNOWN = 10_000

type Facts = { readonly reason?: string | undefined; readonly [fact: string]: unknown }

/** Logs problems of things that are looked at again and again: once when each begins or has another reason, and once when it ends. */
export type ProblemLog = {
  warn(of: unknown, problem: string, facts: Facts): void
  error(of: unknown, problem: string, facts: Facts): void
  /** Nothing is logged of what had no such problem. */
  end(of: unknown, problem: string): void
}

export function createProblemLog(logger: Pick<Logger, 'info' | 'warn' | 'error'>): ProblemLog {
  const known = new Lru<string, { readonly reason: string | undefined; readonly since: number }>(
    MAX_KNOWN,
  )
  const nameOf = (of: unknown, problem: string) => `${of} ${problem}`
  function begin(level: 'warn' | 'error', of: unknown, problem: string, facts: Facts): void {
    const before = known.get(nameOf(of, problem))
    const { reason } = facts
    if (before !== undefined && before.reason === reason) return
    known.set(nameOf(of, problem), { reason, since: before?.since ?? performance.now() })
    logger[level](facts, problem)
  }
  return {
    warn: (of, problem, facts) => begin('warn', of, problem, facts),
    error: (of, problem, facts) => begin('error', of, problem, facts),
    end(of, problem) {
      const before = known.get(nameOf(of, problem))
      if (before === undefined) return
      known.delete(nameOf(of, problem))
      const seconds = Math.round((performance.now() - before.since) / 1_000)
      logger.info({ of: String(of), seconds }, `over: ${problem}`)
    },
  }
}
