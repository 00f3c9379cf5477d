import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { rpc } from '../support/http/jsonRpc.js'
import { createKey } from '../support/service/createKey.js'
import { expensiveCode } from '../support/service/expensiveCode.js'
import { askGreedily, modestRequests } from '../support/service/greedyKey.js'
import { hostileAccount } from '../support/service/hostileAccount.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

/*
 * The attacker asks with one key for the most expensive estimates that the service makes, and for such as are just light
 * enough to be run at once, 36 at a time. The attacker's gain is the thread: without turns of keys, a request of
 * another key waits for all of them.
 */

/**
 * Operations of the greedy key that are simulated to their end while another key waits, each time: none or one,
 * two to four during a heavy estimate. Without turns they are twenty, and fifty. Milliseconds are in `npm run bench:fair`.
 */
const MOST = { chainId: 3, estimate: 6, heavyEstimate: 20 }

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

  test.each([
    ['chainId', 20],
    ['estimate', 10],
    ['heavyEstimate', 2],
  ] as const)('%s of another key waits for few of them', async (name, times) => {
    const simulated = () =>
      greedy.answers.filter(({ body }) => body.error?.data?.limit === undefined).length
    const before = simulated()
    for (let time = 0; time < times; time++) await modest[name]()
    expect(simulated() - before).toBeLessThanOrEqual(MOST[name] * times)
  })

  test('the greedy key has eight heavy requests at once, and learns when to retry', async () => {
    const tooHeavy = await until(async () => {
      const answers = greedy.answers.filter(
        ({ body }) => body.error?.data?.limit === 'heavySimulations',
      )
      return answers.length > 0 && answers
    })
    for (const { status, body } of tooHeavy) {
      expect({ status, code: body.error?.code }).toEqual({ status: 429, code: -32_005 })
      expect(body.error?.data.retryAfter).toBe(5)
    }
    // A quick machine refuses so often that limits of rate are met, too: each says when to ask again.
    for (const { body } of greedy.answers)
      if (body.error?.code === -32_005) expect(body.error.data.retryAfter).toBeGreaterThan(0)
    for (const { body } of greedy.answers)
      expect([undefined, -32_500, -32_005]).toContain(body.error?.code)
  })
})

describe('a key has 100 units a second', () => {
  const purser = useRunningPurser(['--key-rate', '100'])

  test('an expensive estimate takes the units of the time that it kept the thread', async () => {
    const { info } = purser()
    const url = await createKey(info, 'expensive')
    const { operation } = await hostileAccount(info, 'expensive', expensiveCode(700), '0x01')
    await rpc(url, 'eth_estimateUserOperationGas', [operation, info.entryPoints['0.7']])
    const { status, body } = await rpc(url, 'eth_chainId', [])
    expect({ status, limit: body.error?.data.limit }).toEqual({ status: 429, limit: 'key' })
    const other = await rpc(info.standardUrl, 'eth_chainId', [])
    expect(other.body.result).toBeDefined()
  })
})
