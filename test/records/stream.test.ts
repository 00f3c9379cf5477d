import { once } from 'node:events'
import { connect } from 'node:net'
import { createAdaptorServer, type HttpBindings } from '@hono/node-server'
import { Hono } from 'hono'
import { afterEach, describe, expect, test } from 'vitest'
import { eventStream } from '../../src/api/admin/eventStream.js'
import { MOST_OF_ACCOUNT } from '../../src/records/createFeeds.js'
import { audited } from '../../src/tenants/audit.js'
import { createAuthToken, endAuthToken } from '../../src/tenants/authTokens.js'
import { testActor } from '../support/actor.js'
import { storeOperation } from '../support/database/fillTenant.js'
import { storeUser } from '../support/database/storeUser.js'
import type { Json } from '../support/http/jsonRpc.js'
import { operatorToken, useAdmin } from '../support/http/useAdmin.js'
import { adminGet } from '../support/service/adminGet.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

const aborts: AbortController[] = []
afterEach(() => {
  for (const abort of aborts.splice(0)) abort.abort()
})

/** An open stream and all that came of it. */
async function watchAt(url: string, headers: Readonly<Record<string, string>>) {
  const abort = new AbortController()
  aborts.push(abort)
  const response = await fetch(url, { headers, signal: abort.signal })
  const seen = { text: '', ended: false }
  const read = async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      seen.text += decoder.decode(chunk)
    seen.ended = true
  }
  if (response.status === 200) read().catch(() => {})
  const events = () =>
    [...seen.text.matchAll(/event: changes\nid: (\d+)\ndata: (.*)\n/g)].map(
      ([, id = '', data = '']) => ({ id: Number(id), ...(JSON.parse(data) as Json) }),
    )
  const statesOf = (hash: string): string[] =>
    events().flatMap(({ items }) =>
      items.flatMap((each: Json) => (each.userOpHash === hash ? [each.state] : [])),
    )
  return { response, seen, events, statesOf, abort }
}

describe('the stream of an app', () => {
  const { admin, database, one, two, url, stopFeeds } = useAdmin()
  const watch = (appId: string, token: string, others: Readonly<Record<string, string>> = {}) =>
    watchAt(`${url()}/admin/v1/apps/${appId}/stream`, { authToken: token, ...others })

  const drop = (hash: string) =>
    database()
      .updateTable('operations')
      .set({ state: 'dropped', reason_code: 'EXPIRED', updated_at: new Date() })
      .where('hash', '=', hash as `0x${string}`)
      .execute()

  test('tells new operations and their states, and those of nobody else', async () => {
    const { appId, token } = one()
    const watcher = await watch(appId, token)
    expect(watcher.response.headers.get('content-type')).toBe('text/event-stream')
    expect(watcher.response.headers.get('x-accel-buffering')).toBe('no')
    expect((await watch(two().appId, token)).response.status).toBe(404)
    const foreign = await storeOperation(database(), two().appId, 'pooled')
    const hash = await storeOperation(database(), appId, 'pooled')
    await until(async () => watcher.statesOf(hash).includes('pooled'))
    await drop(hash)
    await until(async () => watcher.statesOf(hash).includes('dropped'))
    expect(watcher.statesOf(hash)).toEqual(['pooled', 'dropped'])
    expect(watcher.statesOf(foreign)).toEqual([])
    const ids = watcher.events().map(({ id }) => id)
    for (const [place, id] of ids.slice(1).entries())
      expect(id - (ids[place] ?? 0)).toBeGreaterThanOrEqual(250)

    // A change while nobody listens is sent to a client that returns with the last id.
    const lastId = String(ids.at(-1))
    watcher.abort.abort()
    const missed = await storeOperation(database(), appId, 'pooled')
    const back = await watch(appId, token, { 'last-event-id': lastId })
    await until(async () => back.statesOf(missed).includes('pooled'))
  })

  test('says to read the list again where operations leave the part that is watched', async () => {
    const { appId, token } = one()
    const watcher = await watch(appId, token)
    const hash = await storeOperation(database(), appId, 'pooled')
    await until(async () => watcher.statesOf(hash).length > 0)
    for (let count = 0; count < 200; count++) await storeOperation(database(), appId)
    await until(async () => watcher.events().some(({ more }) => more))
  })

  test('is open to a bounded number of an account, and to others all the same', async () => {
    const { appId, token } = two()
    const open: Awaited<ReturnType<typeof watch>>[] = []
    for (let count = 0; count < MOST_OF_ACCOUNT; count++) open.push(await watch(appId, token))
    expect(new Set(open.map(({ response }) => response.status))).toEqual(new Set([200]))
    const beyond = await watch(appId, token)
    expect(beyond.response.status).toBe(429)
    expect(beyond.response.headers.get('retry-after')).toBe('1')
    expect((await watch(one().appId, one().token)).response.status).toBe(200)
    open[0]?.abort.abort()
    await until(async () => (await watch(appId, token)).response.status === 200)
  })

  test('ends within fifteen seconds for a client that lost access, and goes on for others', async () => {
    const { appId, accountId, token } = one()
    const settings = { accountId, name: 'watcher', role: 'viewer', expiresAt: null } as const
    const made = await audited(database(), testActor, (change) => createAuthToken(change, settings))
    const user = await storeUser(database(), { accountId, role: 'viewer' })
    const member = await storeUser(database(), { accountId, role: 'viewer' })
    const inAccount = { 'purser-account': accountId }
    const path = `${url()}/admin/v1/apps/${appId}/stream`
    const byToken = await watch(appId, made?.authToken ?? '')
    const bySession = await watchAt(path, { ...user.headers, ...inAccount })
    const byMember = await watchAt(path, { ...member.headers, ...inAccount })
    const operator = await watch(appId, operatorToken, inAccount)
    const staying = await watch(appId, token)
    for (const { response } of [byToken, bySession, byMember, operator, staying])
      expect(response.status).toBe(200)
    const gone = await admin('POST', '/apps', token, { name: 'gone' })
    const ofApp = await watch(gone.body.id, token)
    await admin('DELETE', `/apps/${gone.body.id}`, token)
    await audited(database(), testActor, (change) => endAuthToken(change, made?.token.id ?? ''))
    await database().deleteFrom('sessions').where('id', '=', user.sessionId).execute()
    await database().deleteFrom('members').where('user_id', '=', member.userId).execute()
    const shutOut = [byToken, bySession, byMember, ofApp]
    await until(async () => shutOut.every(({ seen }) => seen.ended))
    await until(async () => staying.seen.text.includes(': still here'))
    expect([operator.seen.ended, staying.seen.ended]).toEqual([false, false])
  })

  test('ends when the service stops, and tells its client when to come back', async () => {
    const { appId, token } = one()
    const watcher = await watch(appId, token)
    await stopFeeds()
    await until(async () => watcher.seen.ended)
    expect(watcher.seen.text).toContain('retry: 1000')
    const late = await watch(appId, token)
    await until(async () => late.seen.ended)
  })
})

test('a client that reads nothing is cut before it takes much memory', async () => {
  const event = 'x'.repeat(64 * 1024)
  const state = { sent: 0, left: false, closed: false }
  const app = new Hono<{ Bindings: HttpBindings }>().get('/', (c) =>
    c.body(
      eventStream({
        isStillLetIn: async () => true,
        cut: () => c.env.outgoing.destroy(),
        begin: ({ send }) => {
          const timer = setInterval(() => {
            state.sent += 1
            send(event)
          }, 1)
          return () => {
            state.left = true
            clearInterval(timer)
          }
        },
      }),
    ),
  )
  const server = createAdaptorServer({ fetch: app.fetch })
  server.on('connection', (accepted) =>
    accepted.on('close', () => {
      state.closed = true
    }),
  )
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  const socket = connect(port, '127.0.0.1')
  socket.pause()
  socket.on('error', () => {})
  socket.write('GET / HTTP/1.1\r\nhost: x\r\n\r\n')
  await until(async () => state.left)
  // The buffers of two sockets, and what waits before them.
  expect(state.sent * event.length).toBeLessThan(32 * 2 ** 20)
  await until(async () => state.closed)
  socket.destroy()
  server.close()
})

describe('on the running service', () => {
  const purser = useRunningPurser()

  test('a stream tells an operation on its way and ends with the service', async () => {
    const { info } = purser()
    const { items } = await adminGet(info, '/apps')
    const path = `${info.url}/admin/v1/apps/${items[0].id}/stream`
    const watcher = await watchAt(path, { authToken: info.authToken })
    const account = await devAccount(info, 'watched')
    const hash = await account.send(await account.sponsored())
    await receiptOf(info, hash)
    await until(async () => watcher.statesOf(hash).at(-1) === 'included')
    await purser().end('SIGTERM')
    await until(async () => watcher.seen.ended)
  })
})
