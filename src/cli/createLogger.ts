import { type Logger, pino } from 'pino'

/** JSON lines on standard error: standard output is for what a command answers. */
export function createLogger(level: string): Logger {
  return pino({ level, base: { name: 'purser' } }, pino.destination({ dest: 2, sync: true }))
}
