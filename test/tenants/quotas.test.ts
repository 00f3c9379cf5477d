import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { defaultLimits } from '../../src/api/routeContext.js'
import { type Api, startApi } from '../../src/api/startApi.js'
import type { Database } from '../../src/db/database.js'
import { createMetrics } from '../../src/telemetry/createMetrics.js'
import { changeApp } from '../../src/tenants/apps.js'
import { audited } from '../../src/tenants/audit.js'
import { createAuthenticator } from '../../src/tenants/authenticate.js'
import { changeKey, createKey } from '../../src/tenants/keys.js'
import type { Quotas } from '../../src/tenants/quotas.js'
import { createQuotas } from '../../src/tenants/quotas.js'
import { createUsageCounter, usageOf } from '../../src/tenants/usage.js'
import { testActor } from '../support/actor.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import type { Json } from '../support/http/jsonRpc.js'
import { createMemoryServices } from '../support/http/memoryServices.js'
import { silent } from '../support/logger.js'
import { until } from '../support/until.js'

/** One of two processes on the database: its API, its own shares, and how often it asked for one. */
type Replica = {
  readonly api: Api
  readonly usage: ReturnType<typeof createUsageCounter>
  asked: number
}

const shared = useDatabase()
const replicas: Replica[] = []

/** Counts the statements by which quotas ask the database. */
function counted(database: Database, onQuery: () => void): Database {
  return database.withPlugin({
    transformQuery: ({ node }) => {
      onQuery()
      return node
    },
    transformResult: async ({ result }) => result,
  })
}

beforeAll(async () => {
  const { database } = shared()
  for (let at = 0; at < 2; at++) {
    const usage = createUsageCounter(database, silent)
    const quotas = createQuotas(
      counted(database, () => {
        replica.asked += 1
      }),
    )
    const { services } = createMemoryServices()
    const { authenticateKey } = createAuthenticator(database)
    const replica: Replica = {
      usage,
      asked: 0,
      api: await startApi({
        services: { ...services, authenticateKey, ...quotas, countRequest: usage.countRequest },
        host: '127.0.0.1',
        port: 0,
        logger: silent,
        limits: defaultLimits,
        metrics: createMetrics(),
        mounts: [],
      }),
    }
    replicas.push(replica)
  }
})
afterAll(async () => {
  for (const { api, usage } of replicas) {
    await api.close()
    await usage.stop()
  }
})

async function makeKey(quotas: Quotas | null, appId?: string) {
  const { database } = shared()
  const app = appId ?? (await createApp(database))
  const made = await audited(database, testActor, (change) =>
    createKey(change, app, { name: 'key', quotas }),
  )
  if (made === undefined) throw new Error('there is no app')
  return { appId: app, keyId: made.key.id, apiKey: made.apiKey }
}

async function post(at: number, apiKey: string, body: unknown) {
  const response = await fetch(`${replicas[at]!.api.url}/api/v3/31337/${apiKey}`, {
    method: 'POST',
    body: JSON.stringify(body),
  })
  return {
    status: response.status,
    headers: response.headers,
    body: (await response.json()) as Json,
  }
}
const call = { jsonrpc: '2.0', id: 1, method: 'eth_chainId', params: [] }
const ask = (at: number, apiKey: string) => post(at, apiKey, call)

/** So many requests, half of them at each replica, thirty at a time. Resolves to how many were answered. */
async function askMany(apiKey: string, count: number): Promise<number> {
  let answered = 0
  const one = async (index: number): Promise<void> => {
    const { status } = await ask(index % 2, apiKey)
    if (status === 200) answered += 1
    else expect(status).toBe(429)
  }
  for (let from = 0; from < count; from += 30)
    await Promise.all(Array.from({ length: Math.min(30, count - from) }, (_, i) => one(from + i)))
  return answered
}

async function clock(): Promise<number> {
  const { rows } = await sql<{ now: number }>`
    select extract(epoch from clock_timestamp())::float8 as now`.execute(shared().database)
  return rows[0]?.now ?? 0
}

/** A day's window must not end while a test counts in it. */
async function awayFromMidnight(): Promise<void> {
  const rest = 86_400 - ((await clock()) % 86_400)
  if (rest < 60) await delay(rest * 1_000)
}

const LIMIT = 400

test('two replicas let exactly as many requests pass as the key may make, and seldom ask', async () => {
  await awayFromMidnight()
  const { apiKey, keyId } = await makeKey({ perDay: LIMIT })
  const before = replicas.map(({ asked }) => asked)
  const first = await askMany(apiKey, LIMIT + 100)
  expect(first).toBeLessThanOrEqual(LIMIT)
  // What the other replica holds may lack: a sixteenth of the limit.
  expect(first).toBeGreaterThanOrEqual(LIMIT - LIMIT / 16)
  expect(first + (await askMany(apiKey, 100))).toBe(LIMIT)
  const asked = replicas.reduce((sum, replica, at) => sum + replica.asked - before[at]!, 0)
  // A sixteenth of the rest each time, then the last sixteen one by one, and one answer of "none" each.
  expect(asked).toBeLessThanOrEqual(80)

  const refused = await ask(0, apiKey)
  expect(refused.status).toBe(429)
  const { code, message, data } = refused.body.error
  expect({ code, data }).toEqual({
    code: -32005,
    data: {
      limit: 'keyQuota',
      retryAfter: Number(refused.headers.get('retry-after')),
      quota: { limit: LIMIT, used: LIMIT, seconds: 86_400 },
    },
  })
  expect(data.retryAfter).toBeLessThanOrEqual(86_400)
  expect(message).toMatch(/400 of 400 requests.*Try again in \d+ s/)

  // A refused key costs the database nothing.
  const spent = replicas.map((replica) => replica.asked)
  await askMany(apiKey, 20)
  expect(replicas.map((replica) => replica.asked)).toEqual(spent)

  await Promise.all(replicas.map(({ usage }) => usage.stop()))
  const total = LIMIT + 200 + 1 + 20
  const { today, items } = await usageOf(shared().database, keyId)
  expect(today).toEqual({ requests: total, refused: total - LIMIT })
  expect(items).toHaveLength(1)
})

test('of a batch as many calls pass as are left', async () => {
  await awayFromMidnight()
  const { apiKey } = await makeKey({ perDay: 30 })
  const batches = await Promise.all([0, 1].map((at) => post(at, apiKey, Array(25).fill(call))))
  const answers = batches.flatMap(({ body }) => body as Json[])
  expect(answers.filter((each) => each.result === '0x7a69')).toHaveLength(30)
  for (const { error } of answers.filter((each) => each.error)) expect(error.code).toBe(-32005)
})

test('the quota of an app holds for all its keys together, and refuses before that of a key is used', async () => {
  await awayFromMidnight()
  const one = await makeKey({ perDay: 8 })
  const two = await makeKey(null, one.appId)
  const { database } = shared()
  const setApp = (quotas: Quotas | null) =>
    audited(database, testActor, (change) => changeApp(change, one.appId, { quotas }))
  await setApp({ perDay: 5 })
  expect((await askMany(one.apiKey, 3)) + (await askMany(two.apiKey, 10))).toBe(5)
  expect((await ask(0, one.apiKey)).body.error.data.limit).toBe('appQuota')
  expect(await askMany(one.apiKey, 20)).toBe(0)
  // Those twenty took nothing from the key: without the app's quota its five are there.
  await setApp(null)
  await until(async () => (await ask(0, two.apiKey)).status === 200)
  await until(async () => (await ask(1, two.apiKey)).status === 200)
  let passed = 0
  await until(async () => {
    const { status, body } = await ask(passed % 2, one.apiKey)
    if (status === 200) passed += 1
    return body.error?.data.limit === 'keyQuota'
  })
  expect(passed).toBeLessThanOrEqual(5)
  expect(passed + (await askMany(one.apiKey, 10))).toBe(5)
})

test('a quota that is raised, lowered or ended holds soon', async () => {
  await awayFromMidnight()
  const { appId, keyId, apiKey } = await makeKey({ perDay: 2 })
  const set = (quotas: Quotas | null) =>
    audited(shared().database, testActor, (change) => changeKey(change, appId, keyId, { quotas }))
  expect(await askMany(apiKey, 10)).toBe(2)
  await set({ perDay: 1_000 })
  await until(async () => (await ask(0, apiKey)).status === 200)
  // The replica has a share of sixty requests; under the lower limit they are none.
  await set({ perDay: 3 })
  await until(async () => (await ask(0, apiKey)).status === 429)
  expect((await ask(0, apiKey)).body.error.data.quota.limit).toBe(3)
  await set(null)
  await until(async () => (await ask(0, apiKey)).status === 200)
  await until(async () => (await ask(1, apiKey)).status === 200)
  expect(await askMany(apiKey, 50)).toBe(50)
})

test('a second has no more requests than it may, however they come', async () => {
  const { apiKey } = await makeKey({ perSecond: 5 })
  const begin = await clock()
  let answered = 0
  for (let round = 0; round < 5; round++) answered += await askMany(apiKey, 60)
  const seconds = Math.floor(await clock()) - Math.floor(begin) + 1
  expect(answered).toBeLessThanOrEqual(5 * seconds)
  expect(answered).toBeGreaterThanOrEqual(5)
  await until(async () => (await ask(0, apiKey)).status === 200)
})
