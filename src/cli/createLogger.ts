import { type Logger, pino } from 'pino'

/** JSON lines on standard error: standard output is for what a command answers. */
export const createLogger = (level: string): Logger =>
  pino({ level, base: { name: 'purser' } }, pino.destination({ dest: 2, sync: true }))
