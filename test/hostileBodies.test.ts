import { Agent } from 'node:http'
import { afterAll, expect, test } from 'vitest'
import { methodNames } from '../src/api/methods/methodList.js'
import { expectDecoded } from './support/http/expectDecoded.js'
import { hostileBodies } from './support/http/hostileBodies.js'
import { memoryChainId, memoryKeys } from './support/http/memoryServices.js'
import { expectSafeAnswer, sendHostile } from './support/http/sendHostile.js'
import { useApi } from './support/http/useApi.js'

const seed = Number(process.env.PURSER_TEST_SEED ?? 20_260_101)
const COUNT = 20_000
/** Bodies of each method at least. */
const LEAST = 50
const { logged, memory, url } = useApi()
const agent = new Agent({ keepAlive: true, maxSockets: 4 })

afterAll(() => agent.destroy())

test(`thousands of malformed requests get safe answers (seed ${seed})`, async () => {
  const requests = hostileBodies(seed, COUNT, {
    chainId: memoryChainId,
    apiKey: memoryKeys.apiKey,
    authToken: memoryKeys.authToken,
    entryPoints: [...memory().chain.entryPoints.keys()],
  })
  const bodies = requests.map(({ body }) => Buffer.from(body).toString()).join('\n')
  const fewest = methodNames.map((name) => [name, bodies.split(`"method":"${name}"`).length - 1])
  expect(fewest.filter(([, count]) => Number(count) < LEAST)).toEqual([])
  const queue = requests.entries()
  const seen = new Map<number, number>()
  const work = async () => {
    for (const [index, hostile] of queue) {
      const answer = await sendHostile(url(), hostile, agent)
      try {
        expectSafeAnswer(hostile, answer)
      } catch (cause) {
        const body = Buffer.from(hostile.body).toString().slice(0, 500)
        const what = `${hostile.method} ${hostile.path} ${JSON.stringify(hostile.headers)} ${body}`
        throw new Error(`request ${index} of seed ${seed}: ${what} -> ${answer.text}`, { cause })
      }
      seen.set(answer.status, (seen.get(answer.status) ?? 0) + 1)
    }
  }
  await Promise.all([work(), work(), work(), work()])

  expect(logged().filter((line) => JSON.parse(line).level > 20)).toEqual([])
  for (const call of memory().calls) expectDecoded(call)
  const statuses = [200, 204, 400, 401, 404, 405, 413]
  expect([...seen.keys()].filter((status) => statuses.includes(status)).sort()).toEqual(statuses)
  const reached = new Set(memory().calls.map((call) => call.name))
  expect([...reached]).toEqual(expect.arrayContaining(['admit', 'estimate', 'sponsor', 'receipt']))

  const after = await fetch(`${url()}/api/v2/${memoryChainId}/${memoryKeys.apiKey}`, {
    method: 'POST',
    body: '{"id":1,"method":"eth_chainId"}',
  })
  expect(await after.json()).toEqual({ jsonrpc: '2.0', id: 1, result: '0x7a69' })
})
