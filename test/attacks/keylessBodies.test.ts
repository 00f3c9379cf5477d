import { request } from 'node:http'
import { expect, test } from 'vitest'
import { processorSecondsOf } from '../support/service/processUse.js'
import { useRunningPurser } from '../support/service/usePurser.js'

/*
 * The attacker has no key and posts megabytes of JSON whose parsing takes long. Before: each body was read
 * and parsed before anybody looked at the key, and 40 of them kept the process busy for 5.3 s.
 */

const purser = useRunningPurser()

const REQUESTS = 40
const BYTES = 1_000_000
/** Seconds of the processor for all requests; ten times what they take. */
const BOUND = 2

const bodies = [
  ['empty lists', `[${'[],'.repeat(BYTES / 3)}[]]`],
  ['deep lists', '['.repeat(BYTES / 2) + ']'.repeat(BYTES / 2)],
  ['members', `{${Array.from({ length: BYTES / 12 }, (_, index) => `"${index}":{}`).join(',')}}`],
] as const

/** The status of the answer, which may come before the body was sent. */
function post(url: string, body: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const sending = request(url, { method: 'POST', headers: { 'content-length': body.length } })
    sending.on('response', (answer) => {
      answer.resume()
      answer.on('end', () => resolve(answer.statusCode))
    })
    // The service may close the connection once it has answered.
    sending.on('error', reject)
    sending.end(body)
  })
}

test.each(bodies)('%s with a key are refused before they are parsed', async (_, body) => {
  const { info } = purser()
  const seconds = await processorSecondsOf(info.pid, async () => {
    const statuses = await Promise.all(
      Array.from({ length: 10 }, () => post(info.bundlerUrl, body)),
    )
    for (const status of statuses) expect(status).toBe(400)
  })
  expect(seconds).toBeLessThan(BOUND)
})

test.each(bodies)('%s without a key are not parsed', async (_, body) => {
  const { info } = purser()
  const url = info.standardUrl.replace(info.apiKey, 'not-a-key-of-anybody')
  expect(url).not.toBe(info.standardUrl)
  const seconds = await processorSecondsOf(info.pid, async () => {
    const statuses = await Promise.all(Array.from({ length: REQUESTS }, () => post(url, body)))
    for (const status of statuses) expect([401, 429]).toContain(status)
  })
  expect(seconds).toBeLessThan(BOUND)
})
