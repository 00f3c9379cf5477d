import { Agent } from 'node:http'
import { pino } from 'pino'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultLimits } from '../src/api/limits.js'
import { type Api, startApi } from '../src/api/startApi.js'
import { createMemoryServices, memoryChainId, memoryKeys } from './support/memoryServices.js'
import { hostileBodies } from './support/hostileBodies.js'
import { expectDecoded } from './support/expectDecoded.js'
import { expectSafeAnswer, sendHostile } from './support/sendHostile.js'

const seed = Number(process.env.PURSER_TEST_SEED ?? 20_260_101)
const memory = createMemoryServices()
const agent = new Agent({ keepAlive: true, maxSockets: 4 })
const logged: string[] = []
let api: Api

beforeAll(async () => {
  api = await startApi({
    services: memory.services,
    host: '127.0.0.1',
    port: 0,
    logger: pino({ level: 'error' }, { write: (line: string) => void logged.push(line) }),
    limits: defaultLimits,
  })
})

afterAll(async () => {
  agent.destroy()
  await api.close()
})

test(`thousands of malformed requests get safe answers (seed ${seed})`, async () => {
  const requests = hostileBodies(seed, 5_000, {
    chainId: memoryChainId,
    apiKey: memoryKeys.apiKey,
    authToken: memoryKeys.authToken,
    entryPoints: [...memory.chain.entryPoints.keys()],
  })
  const queue = requests.entries()
  const seen = new Map<number, number>()
  const work = async () => {
    for (const [index, hostile] of queue) {
      const answer = await sendHostile(api.url, hostile, agent)
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

  expect(logged).toEqual([])
  for (const call of memory.calls) expectDecoded(call)
  const statuses = [200, 204, 400, 401, 404, 405, 413]
  expect([...seen.keys()].filter((status) => statuses.includes(status)).sort()).toEqual(statuses)
  const reached = new Set(memory.calls.map((call) => call.name))
  expect([...reached]).toEqual(expect.arrayContaining(['admit', 'estimate', 'sponsor', 'receipt']))

  const after = await fetch(`${api.url}/api/v2/${memoryChainId}/${memoryKeys.apiKey}`, {
    method: 'POST',
    body: '{"id":1,"method":"eth_chainId"}',
  })
  expect(await after.json()).toEqual({ jsonrpc: '2.0', id: 1, result: '0x7a69' })
})
