import { randomBytes, randomUUID } from 'node:crypto'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Webhook as StandardWebhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { InvalidParamsError } from '../../src/base/errors/requestErrors.js'
import { noMetrics } from '../../src/base/metrics/metrics.js'
import {
  createOutboundClient,
  type OutboundClient,
} from '../../src/base/outbound/guardedRequest.js'
import { createNetworkGuard, loopback } from '../../src/base/outbound/networkGuard.js'
import { version } from '../../src/base/version.js'
import type { Approval } from '../../src/webhooks/approval.js'
import { createApprover } from '../../src/webhooks/approve.js'
import {
  createWebhooks,
  findWebhook,
  type RequestType,
  type WebhookSettings,
  type Webhooks,
  webhookDeadline,
} from '../../src/webhooks/manage.js'
import { createWebhookTests } from '../../src/webhooks/testWebhook.js'
import { testActor } from '../support/actor.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { entryPointNamed, operation } from '../support/http/apiFixtures.js'

const testDatabase = useDatabase()
function database() {
  return testDatabase().database
}
const masterKey = randomBytes(32)
const guard = createNetworkGuard(loopback)

let appId = ''
let webhooks: Webhooks
let client: OutboundClient
const servers: Server[] = []

beforeEach(async () => {
  appId = await createApp(database())
  webhooks = createWebhooks({ database: database(), masterKey, guard, actor: testActor })
  client = createOutboundClient(guard)
})

afterEach(async () => {
  client.close()
  for (const server of servers.splice(0)) {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
})

async function start(listener: RequestListener): Promise<string> {
  const server = createServer(listener)
  servers.push(server)
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/approve?key=k`
}

type Seen = { method: string; url: string; headers: Record<string, string>; body: string }

/** An endpoint that keeps what it gets and answers `answer`. */
async function endpoint(answer: unknown) {
  const seen: Seen[] = []
  const url = await start(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    const { method = '', url: path = '', headers } = request
    seen.push({ method, url: path, headers: headers as Seen['headers'], body })
    response.end(typeof answer === 'string' ? answer : JSON.stringify(answer))
  })
  return { url, seen }
}

function register(
  webhookUrl: string,
  requestType: RequestType = 'POST',
  settings: Partial<WebhookSettings> = {},
) {
  const deadlineMs = webhookDeadline.longest
  return webhooks.create(appId, { webhookUrl, requestType, deadlineMs, ...settings })
}

const subject = {
  chainId: 31_337,
  entryPoint: entryPointNamed('0.6'),
  draft: operation,
  calls: undefined,
  policyId: undefined,
  nativePrice: undefined,
  maxCost: Promise.resolve(undefined),
}

async function verifier(webhookId: string) {
  return new StandardWebhook((await webhooks.signingSecret(appId, webhookId)) ?? '')
}

function approve(
  webhookData: Record<string, unknown> = { user: 'alice' },
  decisionId: string = randomUUID(),
  approver = createApprover({ database: database(), masterKey, client, metrics: noMetrics }),
): Promise<Approval> {
  return approver.approve({ appId, decisionId, webhookData, subject })
}

test('without an active webhook nobody is asked and nobody denies', async () => {
  const { url, seen } = await endpoint({ arePoliciesVerified: false })
  const { webhookId } = await register(url)
  await webhooks.update(appId, webhookId, false)
  expect(await approve()).toEqual({ approved: true, calls: [] })
  expect(seen).toEqual([])
})

test('POST: the receiver verifies exactly the bytes it got', async () => {
  const { url, seen } = await endpoint({ arePoliciesVerified: true })
  const { webhookId } = await register(url)
  const decisionId = randomUUID()
  const { approved, calls } = await approve({ user: 'ä', list: [1.5, null] }, decisionId)
  expect(approved).toBe(true)
  expect(calls).toMatchObject([{ webhookId, outcome: 'approved', httpStatus: 200, attempts: 1 }])
  expect(seen).toHaveLength(1)
  const [call] = seen
  expect(call?.method).toBe('POST')
  expect(call?.url).toBe('/approve?key=k')
  expect(call?.body).toBe('{"data":{"user":"ä","list":[1.5,null]}}')
  expect(call?.headers['user-agent']).toBe(`Purser/${version}`)
  expect(call?.headers['webhook-id']).toBe(decisionId)
  const receiver = await verifier(webhookId)
  receiver.verify(call?.body ?? '', call?.headers ?? {})
})

test('GET: the receiver verifies exactly the query it got', async () => {
  const { url, seen } = await endpoint({ arePoliciesVerified: true })
  const { webhookId } = await register(url, 'GET')
  expect((await approve({ user: 'ä b', n: 7 })).approved).toBe(true)
  const [call] = seen
  expect(call?.method).toBe('GET')
  expect(call?.body).toBe('')
  expect(call?.url).toBe(
    '/approve?key=k&user=%C3%A4%20b&n=7&data=%7B%22user%22%3A%22%C3%A4%20b%22%2C%22n%22%3A7%7D',
  )
  const query = call?.url.split('?')[1] ?? ''
  const receiver = await verifier(webhookId)
  receiver.verify(query, call?.headers ?? {}, { jsonParse: false })
})

test('GET: data that is too long is an error, and no webhook is called', async () => {
  const { url, seen } = await endpoint({ arePoliciesVerified: true })
  await register(url, 'POST')
  await register(url, 'GET')
  await expect(approve({ list: ['x'.repeat(9000)] })).rejects.toThrow(InvalidParamsError)
  expect(seen).toEqual([])
})

test('a denial carries the reason', async () => {
  const { url } = await endpoint({ arePoliciesVerified: false, reason: 'quota used' })
  await register(url)
  const { approved, calls } = await approve()
  expect(approved).toBe(false)
  expect(calls).toMatchObject([{ outcome: 'denied', reason: 'quota used' }])
})

describe('several webhooks', () => {
  test('all must approve', async () => {
    const yes = await endpoint({ arePoliciesVerified: true })
    const no = await endpoint({ arePoliciesVerified: false })
    await register(yes.url)
    await register(yes.url)
    expect((await approve()).approved).toBe(true)
    const { webhookId } = await register(no.url)
    const { approved, calls } = await approve()
    expect(approved).toBe(false)
    expect(calls.map(({ outcome }) => outcome)).toEqual(['approved', 'approved', 'denied'])
    await webhooks.update(appId, webhookId, false)
    expect((await approve()).approved).toBe(true)
  })

  test('are asked at the same time', async () => {
    const waiting: (() => void)[] = []
    const url = await start((_, response) => {
      waiting.push(() => response.end('{"arePoliciesVerified":true}'))
      if (waiting.length === 3) for (const answer of waiting) answer()
    })
    for (let count = 0; count < 3; count++) await register(url)
    expect((await approve()).approved).toBe(true)
  })

  test('one that hangs until its own deadline does not hide the others', async () => {
    const yes = await endpoint({ arePoliciesVerified: true })
    await register(yes.url)
    await register(await start(() => undefined), 'POST', { deadlineMs: 250 })
    const { approved, calls } = await approve({})
    expect(approved).toBe(false)
    expect(calls.map(({ outcome }) => outcome)).toEqual(['approved', 'timeout'])
  })
})

test.each([
  ['invalid_json', 'yes'],
  ['invalid_response', '{"arePoliciesVerified":"true"}'],
  ['too_large', `{"arePoliciesVerified":true,"x":"${'y'.repeat(20_000)}"}`],
])('%s denies', async (outcome, answer) => {
  const { url, seen } = await endpoint(answer)
  await register(url)
  const { approved, calls } = await approve()
  expect(approved).toBe(false)
  expect(calls).toMatchObject([{ outcome, attempts: 1 }])
  expect(seen).toHaveLength(1)
})

test('the retry of a reset connection carries the same id and signature', async () => {
  const seen: (string | undefined)[] = []
  let reset = false
  const url = await start((request, response) => {
    const { headers, socket } = request
    seen.push(`${headers['webhook-id']} ${headers['webhook-signature']}`)
    if (reset) {
      reset = false
      socket.resetAndDestroy()
    } else response.end('{"arePoliciesVerified":true}')
  })
  await register(url)
  await approve()
  reset = true
  const { approved, calls } = await approve()
  expect(approved).toBe(true)
  expect(calls).toMatchObject([{ attempts: 2 }])
  expect(seen).toHaveLength(3)
  expect(seen[2]).toBe(seen[1])
  expect(seen[1]).not.toBe(seen[0])
})

test('a webhook that is now forbidden by the allow list is not called', async () => {
  const { url, seen } = await endpoint({ arePoliciesVerified: true })
  await register(url)
  client.close()
  client = createOutboundClient(createNetworkGuard([]))
  const { approved, calls } = await approve()
  expect(approved).toBe(false)
  expect(calls).toMatchObject([{ outcome: 'blocked_address', attempts: 0 }])
  expect(seen).toEqual([])
})

test('an app tests its webhooks once in five seconds, whichever of them', async () => {
  const { url, seen } = await endpoint({ arePoliciesVerified: true })
  const runTest = createWebhookTests({ masterKey, client })
  const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
  onTestFinished(() => clock.mockRestore())
  const stored = []
  for (let count = 0; count < 2; count++) {
    const { webhookId } = await register(url)
    stored.push(await findWebhook(database(), appId, webhookId))
  }
  const [first, second] = stored
  if (first === undefined || second === undefined) throw new Error('nothing was stored')
  expect(await runTest(first)).toMatchObject({ call: { outcome: 'approved' } })
  for (const again of [first, second])
    await expect(runTest(again)).rejects.toThrow(/just tested.*5 s/)
  expect(seen).toHaveLength(1)
})

test("another app's webhooks are not asked", async () => {
  const { url, seen } = await endpoint({ arePoliciesVerified: false })
  await webhooks.create(await createApp(database()), { webhookUrl: url, requestType: 'POST' })
  expect((await approve()).approved).toBe(true)
  expect(seen).toEqual([])
})

test('a secret that was rotated after its master key was lost signs alone', async () => {
  const { url, seen } = await endpoint({ arePoliciesVerified: true })
  const { webhookId } = await register(url)
  const adopted = randomBytes(32)
  webhooks = createWebhooks({ database: database(), masterKey: adopted, guard, actor: testActor })
  await webhooks.rotateSecret(appId, webhookId)
  const approver = createApprover({
    database: database(),
    masterKey: adopted,
    client,
    metrics: noMetrics,
  })
  expect((await approve({}, undefined, approver)).approved).toBe(true)
  const [{ body, headers }] = seen as [Seen]
  expect(headers['webhook-signature']?.split(' ')).toHaveLength(1)
  const receiver = await verifier(webhookId)
  receiver.verify(body, headers)
})
