import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { type AddressInfo, createServer as createTcpServer } from 'node:net'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { pino } from 'pino'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type Metrics, noMetrics } from '../../src/base/metrics/metrics.js'
import {
  createOutboundClient,
  type OutboundClient,
} from '../../src/base/outbound/guardedRequest.js'
import { createNetworkGuard, loopback } from '../../src/base/outbound/networkGuard.js'
import type { EventType } from '../../src/base/vocabulary.js'
import { emitEvent } from '../../src/db/events.js'
import { inTransaction } from '../../src/db/inTransaction.js'
import { type DelivererContext, startEventDeliverer } from '../../src/webhooks/deliverEvents.js'
import { claimDeliveries, finishDelivery, listDeliveries } from '../../src/webhooks/deliveries.js'
import { requireMasterKey } from '../../src/tenants/masterKey.js'
import { createSubscriptions, type Subscriptions } from '../../src/webhooks/subscriptions.js'
import { testActor } from '../support/actor.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'
import { until } from '../support/until.js'

const shared = useDatabase()
const masterKey = randomBytes(32)
const guard = createNetworkGuard(loopback)
const schedule = [0, 20, 20]

let appId = ''
let client: OutboundClient
let subscriptions: Subscriptions
const undo: (() => Promise<unknown>)[] = []

beforeEach(async () => {
  const { database } = shared()
  appId = await createApp(database)
  subscriptions = createSubscriptions({ database, masterKey, guard, actor: testActor })
  client = createOutboundClient(guard)
})
afterEach(async () => {
  for (const step of undo.splice(0).reverse()) await step()
  client.close()
})

type Got = { readonly id: string; readonly body: string; readonly headers: Record<string, string> }
type Reply = (response: ServerResponse, count: number) => void

/** A receiver that keeps what it gets; `reply` answers, 204 when absent. */
async function receiver(reply: Reply = (response) => response.writeHead(204).end()) {
  const got: Got[] = []
  const server: Server = createServer(async (request: IncomingMessage, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const headers = request.headers as Record<string, string>
    got.push({ id: headers['webhook-id'] ?? '', body, headers })
    reply(response, got.length)
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  undo.push(() => {
    server.closeAllConnections()
    return new Promise((done) => server.close(done))
  })
  return { got, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/events` }
}

function subscribe(url: string, eventTypes: EventType[] = ['tank.low']) {
  return subscriptions.create(appId, { url, eventTypes })
}

function emit(data: Record<string, unknown>, type: EventType = 'tank.low') {
  return inTransaction(shared().database, (trx) => emitEvent(trx, appId, type, data))
}

const replayAll = { eventId: undefined, since: undefined, onlyFailed: false }

function deliver(lease = 60_000, given: Partial<DelivererContext> = {}) {
  const deliverer = startEventDeliverer({
    database: shared().database,
    masterKey,
    client,
    logger: silent,
    schedule,
    lease,
    metrics: noMetrics,
    ...given,
  })
  undo.push(deliverer.close)
  return deliverer
}

async function deliveriesOf(id: string) {
  return (await listDeliveries(shared().database, id, { limit: 100, before: undefined })).items
}

/** The states of the subscription's deliveries, once all have ended. */
async function ended(id: string) {
  await until(async () => (await deliveriesOf(id)).every(({ state }) => state !== 'pending'))
  return (await deliveriesOf(id)).map(({ state }) => state)
}

test('an event reaches every subscription that wants it, signed, and no other', async () => {
  const [wanting, other] = [await receiver(), await receiver()]
  const { subscription, signingSecret } = await subscribe(wanting.url)
  await subscribe(other.url, ['sponsorship.signed'])
  const stranger = await createApp(shared().database)
  await inTransaction(shared().database, (trx) => emitEvent(trx, stranger, 'tank.low', { n: 0 }))
  await emit({ n: 1, text: 'ä' })
  deliver()
  expect(await ended(subscription.id)).toEqual(['delivered'])
  expect(wanting.got).toHaveLength(1)
  expect(other.got).toEqual([])
  const [{ body, headers }] = wanting.got as [Got]
  expect(new StandardWebhook(signingSecret).verify(body, headers)).toMatchObject({
    type: 'tank.low',
    data: { n: 1, text: 'ä' },
  })
})

test('an event of a transaction that fails was never', async () => {
  const { subscription } = await subscribe((await receiver()).url)
  const failing = shared()
    .database.transaction()
    .execute(async (trx) => {
      await emitEvent(trx, appId, 'tank.low', {})
      throw new Error('changed its mind')
    })
  await expect(failing).rejects.toThrow('changed its mind')
  expect(await deliveriesOf(subscription.id)).toEqual([])
})

test('what fails is tried again with the same id, then given up, then replayed', async () => {
  const { got, url } = await receiver((response, count) =>
    response.writeHead(count <= 3 ? 500 : 200).end(),
  )
  const { subscription } = await subscribe(url)
  await emit({})
  deliver()
  expect(await ended(subscription.id)).toEqual(['failed'])
  expect(got).toHaveLength(3)
  expect(new Set(got.map(({ id }) => id)).size).toBe(1)
  expect(await deliveriesOf(subscription.id)).toMatchObject([
    { attempts: 3, outcome: 'http_status', http_status: 500 },
  ])
  expect((await subscriptions.get(appId, subscription.id))?.failingSince).not.toBeNull()

  const which = { eventId: got[0]?.id, since: undefined, onlyFailed: true }
  expect(await subscriptions.replay(appId, subscription.id, which)).toBe(1)
  expect(await ended(subscription.id)).toEqual(['delivered'])
  const [delivery] = await deliveriesOf(subscription.id)
  expect(delivery?.recent_attempts).toMatchObject([
    ...[1, 2, 3].map((attempt) => ({ attempt, outcome: 'http_status', httpStatus: 500 })),
    { attempt: 1, outcome: 'delivered', httpStatus: 200, reason: null },
  ])
  // It is no failed one any more.
  expect(await subscriptions.replay(appId, subscription.id, which)).toBe(0)
  expect(got.at(-1)?.id).toBe(got[0]?.id)
  expect((await subscriptions.get(appId, subscription.id))?.failingSince).toBeNull()
})

test('a delivery remembers its newest twelve attempts', async () => {
  const { got, url } = await receiver((response) => response.writeHead(503).end())
  const { subscription } = await subscribe(url)
  await emit({})
  deliver()
  const again = { eventId: undefined, since: undefined, onlyFailed: true }
  for (let round = 1; round <= 5; round++) {
    expect(await ended(subscription.id)).toEqual(['failed'])
    if (round < 5) expect(await subscriptions.replay(appId, subscription.id, again)).toBe(1)
  }
  expect(got).toHaveLength(15)
  const [delivery] = await deliveriesOf(subscription.id)
  const attempts = delivery?.recent_attempts ?? []
  expect(attempts.map(({ attempt }) => attempt)).toEqual([1, 2, 3, 1, 2, 3, 1, 2, 3, 1, 2, 3])
  for (const { at, milliseconds } of attempts) {
    expect(Math.abs(Date.now() - Date.parse(at))).toBeLessThan(60_000)
    expect(milliseconds).toBeGreaterThanOrEqual(0)
  }
})

test('410 ends the subscription, and what was queued waits until it begins again', async () => {
  const { got, url } = await receiver((response, count) =>
    response.writeHead(count === 1 ? 410 : 200).end(),
  )
  const { subscription } = await subscribe(url)
  await emit({ n: 1 })
  deliver()
  expect(await ended(subscription.id)).toEqual(['failed'])
  const stopped = await subscriptions.get(appId, subscription.id)
  expect(stopped).toMatchObject({ active: false, disabledReason: expect.stringContaining('410') })
  await emit({ n: 2 })
  expect(await deliveriesOf(subscription.id)).toHaveLength(1)
  const again = await subscriptions.change(appId, subscription.id, { active: true })
  expect(again).toMatchObject({ active: true, disabledReason: null })
  await emit({ n: 3 })
  expect(await ended(subscription.id)).toEqual(['delivered', 'failed'])
  expect(got).toHaveLength(2)
})

test('a subscription that failed for days is ended', async () => {
  const { url } = await receiver((response) => response.writeHead(500).end())
  const { subscription } = await subscribe(url)
  await sql`update event_subscriptions set failing_since = now() - interval '6 days'
    where id = ${subscription.id}`.execute(shared().database)
  await emit({})
  deliver()
  await until(async () => (await subscriptions.get(appId, subscription.id))?.active === false)
  expect((await subscriptions.get(appId, subscription.id))?.disabledReason).toContain('5 days')
})

test('a receiver that hangs does not hold up the others', async () => {
  const hanging = await receiver(() => undefined)
  const { subscription: stuck } = await subscribe(hanging.url)
  for (let n = 0; n < 30; n++) await emit({ n })
  const quick = await receiver()
  const { subscription } = await subscribe(quick.url)
  await emit({ n: 'quick' })
  deliver()
  expect(await ended(subscription.id)).toEqual(['delivered'])
  expect(hanging.got.length).toBeLessThanOrEqual(5)
  await subscriptions.delete(appId, stuck.id)
})

test('an app whose subscriptions all hang does not hold up another app', async () => {
  const hanging = await receiver(() => undefined)
  const stuck = []
  for (let n = 0; n < 5; n++) stuck.push((await subscribe(hanging.url)).subscription.id)
  await inTransaction(shared().database, async (trx) => {
    for (let n = 0; n < 300; n++) await emitEvent(trx, appId, 'tank.low', { n })
  })
  deliver()
  await until(async () => hanging.got.length === 15)
  const stuckApp = appId
  appId = await createApp(shared().database)
  const { got, url } = await receiver()
  const { subscription } = await subscribe(url)
  await emit({ n: 'quick' })
  expect(await ended(subscription.id)).toEqual(['delivered'])
  expect(got).toHaveLength(1)
  // None of the attempts that hang has ended meanwhile.
  expect(hanging.got).toHaveLength(15)
  const tried = await shared()
    .database.selectFrom('event_deliveries')
    .select('id')
    .where('subscription_id', 'in', stuck)
    .where(sql<boolean>`recent_attempts <> '[]'`)
    .execute()
  expect(tried).toEqual([])
  for (const id of stuck) await subscriptions.delete(stuckApp, id)
})

test('each subscription gets its first delivery before any gets another', async () => {
  const { database } = shared()
  const first = (await subscribe('http://127.0.0.1:9/')).subscription.id
  for (let n = 0; n < 6; n++) await emit({ n })
  appId = await createApp(database)
  const second = (await subscribe('http://127.0.0.1:9/')).subscription.id
  await emit({})
  const claim = async (underWay: ReadonlyMap<string, number>) => {
    const given = { limit: 6, perSubscription: 5, lease: 0, underWay }
    const claims = await claimDeliveries(database, given)
    return [first, second].map((id) => claims.filter((each) => each.subscriptionId === id).length)
  }
  expect(await claim(new Map([[first, 3]]))).toEqual([2, 1])
  expect(await claim(new Map())).toEqual([5, 1])
  expect(await claim(new Map([[first, 5]]))).toEqual([0, 1])
})

test('receivers that switch the protocol do not keep the slots', async () => {
  const switching = createTcpServer((socket) => {
    socket.on('error', () => undefined)
    socket.once('data', () =>
      socket.write('HTTP/1.1 101 X\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'),
    )
  })
  await new Promise<void>((done) => switching.listen(0, '127.0.0.1', done))
  undo.push(() => new Promise((done) => switching.close(done)))
  const { port } = switching.address() as AddressInfo
  for (let n = 0; n < 4; n++) await subscribe(`http://127.0.0.1:${port}/${n}`)
  for (let n = 0; n < 5; n++) await emit({ n })
  const deliverer = deliver()
  const quick = await receiver()
  const { subscription } = await subscribe(quick.url, ['sponsorship.signed'])
  await emit({}, 'sponsorship.signed')
  expect(await ended(subscription.id)).toEqual(['delivered'])
  await deliverer.close()
})

test('2xx is delivered, whatever its body', async () => {
  const { got, url } = await receiver((response) => response.writeHead(200).end('x'.repeat(20_000)))
  const { subscription } = await subscribe(url)
  await emit({})
  deliver()
  expect(await ended(subscription.id)).toEqual(['delivered'])
  expect(got).toHaveLength(1)
})

test('an attempt that a replay has overtaken changes nothing', async () => {
  let fail = (): void => {}
  const { got, url } = await receiver((response, count) => {
    if (count > 1) response.writeHead(204).end()
    else fail = () => response.writeHead(500).end()
  })
  const { subscription } = await subscribe(url)
  await emit({})
  const outcomes = new Set<string>()
  const metrics: Metrics = {
    ...noMetrics,
    count: (_, labels) => outcomes.add(JSON.stringify(labels)),
  }
  const deliverer = deliver(undefined, { metrics })
  await until(async () => got.length === 1)
  expect(await subscriptions.replay(appId, subscription.id, replayAll)).toBe(1)
  expect(await ended(subscription.id)).toEqual(['delivered'])
  fail()
  await until(async () => outcomes.has('{"outcome":"http_status"}'))
  await deliverer.close()
  expect(await deliveriesOf(subscription.id)).toMatchObject([
    { state: 'delivered', attempts: 1, recent_attempts: [{ outcome: 'delivered' }] },
  ])
})

test('an attempt that ends after a replay does not take the replay away', async () => {
  const { database } = shared()
  const { subscription } = await subscribe('http://127.0.0.1:9/')
  await emit({})
  const claim = { limit: 100, perSubscription: 1, lease: 60_000, underWay: new Map() }
  const claims = await claimDeliveries(database, claim)
  const ours = claims.find(({ subscriptionId }) => subscriptionId === subscription.id)
  await subscriptions.replay(appId, subscription.id, replayAll)
  const end = { attempt: 1, milliseconds: 1, outcome: 'timeout', httpStatus: null, reason: null }
  if (ours === undefined) throw new Error('the delivery was not taken')
  expect(await finishDelivery(database, ours, 'failed', end)).toBe(false)
  expect(await deliveriesOf(subscription.id)).toMatchObject([{ state: 'pending', attempts: 0 }])
})

test('several deliverers share the work, and each event is delivered once', async () => {
  const { got, url } = await receiver()
  const { subscription } = await subscribe(url)
  for (let n = 0; n < 40; n++) await emit({ n })
  for (let count = 0; count < 3; count++) deliver()
  expect(new Set(await ended(subscription.id))).toEqual(new Set(['delivered']))
  expect(got).toHaveLength(40)
  expect(new Set(got.map(({ id }) => id)).size).toBe(40)
})

test('close interrupts a delivery, and the next deliverer begins it anew at once', async () => {
  const { got, url } = await receiver((response, count) => {
    if (count > 1) response.writeHead(200).end()
  })
  const { subscription } = await subscribe(url)
  await emit({})
  const first = deliver()
  await until(async () => got.length === 1)
  await first.close()
  expect(await deliveriesOf(subscription.id)).toMatchObject([{ state: 'pending', attempts: 0 }])
  deliver()
  expect(await ended(subscription.id)).toEqual(['delivered'])
  expect(got[1]?.id).toBe(got[0]?.id)
})

test('a process that is killed while it delivers loses nothing', async () => {
  const { got, url } = await receiver((response, count) => {
    if (count > 1) response.writeHead(200).end()
  })
  const { subscription } = await subscribe(url)
  await emit({ precious: true })
  const script = fileURLToPath(new URL('../support/service/delivererProcess.mjs', import.meta.url))
  const given = {
    connection: shared().connection,
    masterKey: masterKey.toString('hex'),
    lease: 1_000,
  }
  const child: ChildProcess = spawn(process.execPath, [script, JSON.stringify(given)])
  const gone = once(child, 'exit')
  await until(async () => got.length === 1)
  child.kill('SIGKILL')
  await gone
  deliver(1_000)
  expect(await ended(subscription.id)).toEqual(['delivered'])
  expect(got.map(({ id }) => id)).toEqual([got[0]?.id, got[0]?.id])
  expect(got[1]?.body).toBe(got[0]?.body)
})

test('a delivery whose signing secret is lost ends with the reason, and so does its subscription', async () => {
  const { got, url } = await receiver()
  const { subscription } = await subscribe(url)
  for (let n = 0; n < 3; n++) await emit({ n })
  const lines: string[] = []
  const logger = pino({ level: 'error' }, { write: (line) => lines.push(line) })
  const deliverer = deliver(undefined, { masterKey: randomBytes(32), logger })
  expect(new Set(await ended(subscription.id))).toEqual(new Set(['failed']))
  await deliverer.close()
  expect(got).toEqual([])
  const [delivery] = await deliveriesOf(subscription.id)
  expect(delivery).toMatchObject({ outcome: 'secret_lost', attempts: 1 })
  expect(delivery?.reason).toContain('rotate it')
  expect(await subscriptions.get(appId, subscription.id)).toMatchObject({
    active: false,
    disabledReason: expect.stringContaining('rotate it'),
  })
  expect(lines.filter((line) => line.includes(subscription.id))).toHaveLength(1)

  await subscriptions.rotateSecret(appId, subscription.id)
  await subscriptions.change(appId, subscription.id, { active: true })
  await subscriptions.replay(appId, subscription.id, replayAll)
  deliver()
  expect(new Set(await ended(subscription.id))).toEqual(new Set(['delivered']))
})

test('a process whose master key was replaced ends nothing', async () => {
  const { database } = shared()
  const { got, url } = await receiver()
  const { subscription } = await subscribe(url)
  await emit({})
  const place = { configured: masterKey.toString('hex'), dataFolder: '' }
  await requireMasterKey(database, place)
  undo.push(() => sql`delete from master_key`.execute(database))
  const lines: string[] = []
  const logger = pino({ level: 'error' }, { write: (line) => lines.push(line) })
  const deliverer = deliver(50, { masterKey: randomBytes(32), logger })
  await until(async () => lines.some((line) => line.includes('no longer that of the database')))
  await deliverer.close()
  expect(await subscriptions.get(appId, subscription.id)).toMatchObject({ active: true })
  deliver(50)
  expect(await ended(subscription.id)).toEqual(['delivered'])
  expect(got).toHaveLength(1)
})

test('while a secret is changed both sign', async () => {
  const { got, url } = await receiver()
  const { subscription, signingSecret } = await subscribe(url)
  const renewed = (await subscriptions.rotateSecret(appId, subscription.id))?.signingSecret ?? ''
  await emit({})
  deliver()
  await ended(subscription.id)
  const [{ body, headers }] = got as [Got]
  new StandardWebhook(signingSecret).verify(body, headers)
  new StandardWebhook(renewed).verify(body, headers)
})
