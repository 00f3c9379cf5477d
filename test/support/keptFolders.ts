import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { testLog } from './logger.js'

let hasFailed = false

/** Called when a file begins; what it returns is called when a test of the file fails. */
export function watchFailures(): () => void {
  hasFailed = false
  return () => {
    hasFailed = true
  }
}

/**
 * Whether the folder stays for those who look for the cause: with PURSER_TEST_LOG, once a test of the file has failed. Then
 * the folder of the run stays too, without its processes.
 */
export function isKept(folder: string): boolean {
  if (testLog === undefined || !hasFailed) return false
  process.stderr.write(`kept: ${folder}\n`)
  if (process.env.PURSER_TEST_RUN) writeFileSync(join(process.env.PURSER_TEST_RUN, 'kept'), '')
  return true
}
