import { type Logger, levels, pino } from 'pino'
import { traceIdOf } from '../base/traceId.js'
import type { LogLevel } from '../base/vocabulary.js'

/** The level that `toggle` changes to, and back from. */
const DETAILED = 'debug'

export type ServiceLogger = {
  readonly logger: Logger
  /** The level that counts now. */
  level(): LogLevel
  setLevel(level: LogLevel): void
  /** Changes between the level that was chosen and `debug`; returns the new one. */
  toggle(): LogLevel
}

/**
 * JSON lines on standard error: standard output is for what a command answers. A line about one operation has
 * its hash as `op`, and gets `trace_id` by it.
 */
export function createLogger(level: LogLevel): Logger {
  return createServiceLogger(level).logger
}

/** The same with a level that can change. Children of a pino logger keep their level, so a hook decides. */
export function createServiceLogger(
  chosen: LogLevel,
  /** Each line as it is written, for people who read along; absent = as JSON. */
  write?: (line: string) => string,
): ServiceLogger {
  let current = chosen
  let threshold = thresholdOf(chosen)
  const logger = pino(
    {
      level: 'trace',
      base: { name: 'purser' },
      hooks: {
        logMethod(args, method, level) {
          if (level >= threshold) method.apply(this, args)
        },
      },
      formatters: {
        log: (line) => {
          const { op } = line
          return typeof op === 'string' ? { ...line, trace_id: traceIdOf(op) } : line
        },
      },
    },
    write === undefined
      ? pino.destination({ dest: 2, sync: true })
      : { write: (line: string) => void process.stderr.write(`${write(line.trimEnd())}\n`) },
  )
  const setLevel = (level: LogLevel): void => {
    current = level
    threshold = thresholdOf(level)
  }
  return {
    logger,
    level: () => current,
    setLevel,
    toggle() {
      setLevel(current === DETAILED ? chosen : DETAILED)
      return current
    },
  }
}

function thresholdOf(level: LogLevel): number {
  return levels.values[level] ?? Number.POSITIVE_INFINITY
}
