import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rpc } from '../support/http/jsonRpc.js'
import { createKey } from '../support/service/createKey.js'
import { dearCode } from '../support/service/dearCode.js'
import { askGreedily, modestRequests, timesOf } from '../support/service/greedyKey.js'
import { hostileAccount } from '../support/service/hostileAccount.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

/*
 * The attacker asks with one key for the dearest estimates that the service makes, and for such as are just light
 * enough to be run at once, 36 at a time. The attacker's gain is the thread: without turns of keys, a request of
 * another key waits for all of them.
 */

/** Milliseconds. `npm run bench:fair` has the tight figures; here the machine may be ten times slower. */
const LONGEST = { chainId: 8_000, estimate: 15_000, heavyEstimate: 45_000 }

function largest(times: readonly number[]): number {
  return Math.max(...times)
}

describe('one key asks for all that it may', () => {
  const purser = useRunningPurser()
  let modest: Awaited<ReturnType<typeof modestRequests>>
  let greedy: Awaited<ReturnType<typeof askGreedily>>
  beforeAll(async () => {
    const { info } = purser()
    modest = await modestRequests(info, await createKey(info, 'modest'))
    await modest.estimate()
    greedy = await askGreedily(info, info.standardUrl)
  })
  afterAll(() => void greedy.stop())

  test('requests of another key are answered in time', async () => {
    const chainId = await timesOf(20, modest.chainId)
    const estimate = await timesOf(10, modest.estimate)
    const heavy = await timesOf(1, modest.heavyEstimate)
    expect(largest(chainId)).toBeLessThan(LONGEST.chainId)
    expect(largest(estimate)).toBeLessThan(LONGEST.estimate)
    expect(largest(heavy)).toBeLessThan(LONGEST.heavyEstimate)
  })

  test('the greedy key has eight heavy requests at once, and is told when to ask again', async () => {
    const refused = await until(async () => {
      const answers = greedy.answers.filter(({ body }) => body.error?.code === -32_005)
      return answers.length > 0 && answers
    })
    for (const { status, body } of refused) {
      expect(status).toBe(429)
      expect(body.error?.data).toEqual({ limit: 'heavySimulations', retryAfter: 5 })
    }
    for (const { body } of greedy.answers)
      expect([undefined, -32_500, -32_005]).toContain(body.error?.code)
  })
})

describe('a key has 100 units a second', () => {
  const purser = useRunningPurser(['--key-rate', '100'])

  test('a dear estimate takes the units of the time that it kept the thread', async () => {
    const { info } = purser()
    const url = await createKey(info, 'dear')
    const { operation } = await hostileAccount(info, 'dear', dearCode(700), '0x01')
    await rpc(url, 'eth_estimateUserOperationGas', [operation, info.entryPoints['0.7']])
    const { status, body } = await rpc(url, 'eth_chainId', [])
    expect({ status, limit: body.error?.data.limit }).toEqual({ status: 429, limit: 'key' })
    const other = await rpc(info.standardUrl, 'eth_chainId', [])
    expect(other.body.result).toBeDefined()
  })
})
