import { describe, expect, onTestFinished, test } from 'vitest'
import type { Json } from '../support/http/jsonRpc.js'
import { devAccount } from '../support/service/devAccount.js'
import { usePromisedServing } from '../support/service/usePromisedServing.js'
import { until } from '../support/until.js'

/* The same URL as a stream of server-sent events: news of operations for the key of an app. */

const serving = usePromisedServing(845_303)

/** An open stream, and what came of it. */
async function open(query: string, headers: Readonly<Record<string, string>> = {}) {
  const abort = new AbortController()
  onTestFinished(() => abort.abort())
  const response = await fetch(`${serving.info().standardUrl}?${query}`, {
    headers: { accept: 'text/event-stream', ...headers },
    signal: abort.signal,
  })
  const seen = { text: '', hasEnded: false }
  const read = async () => {
    const decoder = new TextDecoder()
    for await (const chunk of response.body as unknown as AsyncIterable<Uint8Array>)
      seen.text += decoder.decode(chunk)
    seen.hasEnded = true
  }
  const isStream = response.headers.get('content-type') === 'text/event-stream'
  if (isStream) read().catch(() => {})
  const events = (): { id: string; data: Json }[] =>
    [...seen.text.matchAll(/event: userOperation\nid: (.*)\ndata: (.*)\n\n/g)].map(
      ([, id = '', data = '']) => ({ id, data: JSON.parse(data) }),
    )
  return { response, seen, events, close: () => abort.abort() }
}

test('by hash: a promise, then the inclusion, then the end', async () => {
  const account = await devAccount(serving.info(), 'hash events')
  const op = await account.selfPaid()
  const userOpHash = account.hashOf(op)
  const { response, seen, events } = await open(`userOpHash=${userOpHash}&until=included`)
  expect(response.headers.get('content-type')).toBe('text/event-stream')
  expect(response.headers.get('access-control-allow-origin')).toBe('*')
  await account.send(op)
  await until(async () => seen.hasEnded)
  const last = events().at(-1)
  expect(last).toMatchObject({ id: 'end', data: { userOpHash, isLast: true, state: 'CONFIRMED' } })
  expect(seen.text.startsWith('retry: 1000\n\n')).toBe(true)
  // A browser comes back when a stream ends, unless it is answered so.
  const again = await open(`userOpHash=${userOpHash}`, { 'last-event-id': 'end' })
  expect(again.response.status).toBe(204)
})

describe('by sender', () => {
  test('each operation of the sender that the app of the key sends, and no other', async () => {
    const account = await devAccount(serving.info(), 'sender events')
    const other = await devAccount(serving.info(), 'another sender')
    const { events, seen } = await open(`sender=${account.account.address}`)
    const stranger = await open(`sender=0x${'77'.repeat(20)}`)
    const op = await account.selfPaid()
    await account.send(op)
    await other.send(await other.selfPaid())
    await until(async () => events().some(({ data }) => data.isLast))
    const hashes = new Set(events().map(({ data }) => data.userOpHash))
    expect([...hashes]).toEqual([account.hashOf(op)])
    expect(seen.hasEnded).toBe(false)
    expect(stranger.events()).toEqual([])
  })

  test('a client that comes back gets the end that it missed', async () => {
    const account = await devAccount(serving.info(), 'missed events')
    const op = await account.selfPaid()
    const userOpHash = account.hashOf(op)
    await serving.node.hold()
    const first = await open(`sender=${account.account.address}`)
    await account.send(op)
    await until(async () => first.events().length > 0)
    const { id } = first.events().at(-1)!
    expect(id).toBe(userOpHash)
    first.close()
    serving.node.release()
    const whole = await open(`userOpHash=${userOpHash}`)
    await until(async () => whole.seen.hasEnded)
    const again = await open(`sender=${account.account.address}`, { 'last-event-id': id })
    await until(async () => again.events().some(({ data }) => data.isLast))
    expect(again.events().map(({ data }) => data.userOpHash)).toEqual([userOpHash])
    const late = await open(`sender=${account.account.address}`)
    const odd = await open(`sender=${account.account.address}`, { 'last-event-id': "';--,0x12" })
    expect([late.response.status, odd.response.status]).toEqual([200, 200])
  })
})

test('a wrong key and a wrong filter are refused as calls are', async () => {
  const wrongKey = serving.info().standardUrl.replace(/[^/]+$/, 'nothing')
  const headers = { accept: 'text/event-stream' }
  const refused = await fetch(`${wrongKey}?sender=0x${'11'.repeat(20)}`, { headers })
  expect(refused.status).toBe(401)
  const { response } = await open('sender=0x12')
  expect(((await response.json()) as Json).error.code).toBe(-32602)
  const neither = await open('until=final')
  expect(((await neither.response.json()) as Json).error.message).toContain(
    'either userOpHash or sender',
  )
  const plain = await fetch(serving.info().standardUrl)
  expect(plain.status).toBe(405)
})
