import { pino } from 'pino'

/**
 * The level of the logs that PURSER_TEST_LOG asks for, such as `debug`. With it services of tests print what they log, and
 * the data folder of a file of which a test failed stays.
 */
export const testLog: string | undefined = process.env.PURSER_TEST_LOG || undefined

/** For parts that want a logger; warnings of a test are not news. */
export const silent = pino({ level: testLog ?? 'silent' })
