import { pino } from 'pino'

/** For parts that want a logger; warnings of a test are not news. */
export const silent = pino({ level: 'silent' })
