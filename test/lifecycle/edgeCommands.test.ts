import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Json } from '../support/http/jsonRpc.js'
import { webhookApi } from '../support/http/webhookApi.js'
import { commandsOn, labelled, rowsOf } from '../support/service/cliAnswers.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { useRunningPurser } from '../support/service/usePurser.js'
import { until } from '../support/until.js'

const operatorToken = 'operator-token-of-this-very-test-file'
const purser = useRunningPurser(['--operator-token', operatorToken])
function commands() {
  return commandsOn(purser().dataFolder)
}

const got: { path: string; headers: Record<string, string>; body: Json }[] = []
const receiver = createServer(async (request, response) => {
  let text = ''
  for await (const chunk of request) text += chunk
  const headers = request.headers as Record<string, string>
  got.push({ path: request.url ?? '', headers, body: JSON.parse(text) })
  response.end('{"arePoliciesVerified":true}')
})
let receiverUrl = ''
beforeAll(async () => {
  await new Promise<void>((done) => receiver.listen(0, '127.0.0.1', done))
  receiverUrl = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`
})
afterAll(() => {
  receiver.closeAllConnections()
  receiver.close()
})

const allow = ['--webhook-allow', '127.0.0.0/8']

async function devApp(): Promise<string> {
  const row = rowsOf(await commands().answer('app', 'list')).find(
    ({ name }) => name === 'development',
  )
  return row?.id ?? ''
}

test('a sponsored operation tells its life to a subscriber, and again when asked to', async () => {
  const { answer } = commands()
  const { info } = purser()
  const app = await devApp()
  const url = `${receiverUrl}/events`
  const made = await answer('subscription', 'create', '--app', app, '--url', url, ...allow)
  const id = labelled(made, 'subscription')

  const tools = await devAccount(info, 'tells its life')
  const hash = await tools.send(await tools.sponsored())
  await receiptOf(info, hash)

  const events = () => got.filter(({ path }) => path === '/events')
  await until(async () => events().length === 2)
  const byType = new Map(events().map(({ body }) => [body.type, body.data]))
  expect(byType.get('sponsorship.signed')).toMatchObject({ userOpHash: hash })
  expect(byType.get('user_operation.included')).toMatchObject({ userOpHash: hash, success: true })

  const event = events()[0]?.headers['webhook-id'] ?? ''
  const replayed = await answer('subscription', 'replay', id, '--app', app, '--event', event)
  expect(labelled(replayed, 'count')).toBe('1')
  await until(async () => events().length === 3)
  expect(events()[2]?.headers['webhook-id']).toBe(event)
  expect(await answer('subscription', 'list', '--app', app)).toContain(id)
  await answer('subscription', 'delete', id, '--app', app)
})

test('a webhook is set, tested and given a second secret by commands', async () => {
  const { answer, refusal } = commands()
  const { info } = purser()
  const app = await devApp()
  const { body } = await webhookApi(info, 'POST', {
    headers: { authToken: info.authToken, apiKey: info.apiKey },
    body: { webhookUrl: `${receiverUrl}/approve`, requestType: 'POST' },
  })
  const id = body.data.webhookId
  const own = [id, '--app', app]
  const set = await answer('webhook', 'set', ...own, '--payload', 'extended', '--deadline', '750')
  expect([labelled(set, 'payload'), labelled(set, 'deadlineMs')]).toEqual(['extended', '750'])
  expect(await refusal('webhook', 'set', ...own, '--deadline', '1')).toContain('--deadline')
  const tested = await answer('webhook', 'test', ...own, ...allow)
  expect([labelled(tested, 'outcome'), labelled(tested, 'httpStatus')]).toEqual(['approved', '200'])
  const before = await answer('webhook', 'secret', ...own)
  expect(await answer('webhook', 'rotate', ...own)).not.toBe(before)
  expect(await answer('webhook', 'calls', ...own)).toContain('none')

  got.length = 0
  await answer('webhook', 'test', ...own, ...allow)
  expect(got[0]?.headers['webhook-signature']?.split(' ')).toHaveLength(2)
  expect(got[0]?.body).toEqual({ data: { purserTest: true }, type: 'sponsorship.test' })
  await answer('webhook', 'set', ...own, '--active', 'false')
})

test('a key has limits, and its successor has them too', async () => {
  const { answer, refusal } = commands()
  const { url, chainId } = purser().info
  const app = await devApp()
  const create = ['key', 'create', '--app', app, '--name', 'limited']
  const made = await answer(...create, '--scopes', 'bundler', '--origins', 'https://a.example')
  const limit = (...flags: string[]) => answer('key', 'limit', labelled(made, 'key'), ...flags)
  expect(await limit('--per-day', '500')).toContain('"perDay": 500')
  expect(await limit('--name', 'limited still')).toContain('"perDay": 500')
  const raised = await limit('--per-second', '50')
  expect([raised.includes('"perDay": 500'), raised.includes('"perSecond": 50')]).toEqual([
    true,
    true,
  ])
  expect(await limit('--per-day', 'null')).not.toContain('perDay')
  expect(labelled(await limit('--per-second', 'null'), 'quotas')).toBe('-')
  expect(await refusal('key', 'limit', labelled(made, 'key'))).toContain('null removes a limit')
  expect(await refusal('app', 'limit', app)).toBe(
    'Name what changes by --per-second, --per-minute, --per-day; null removes a limit.',
  )
  const ask = async (key: string, method: string, headers = {}) => {
    const call = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: [] })
    const request = { method: 'POST', body: call, headers }
    return (await fetch(`${url}/api/v2/${chainId}/${key}`, request)).status
  }
  const origin = { origin: 'https://a.example' }
  const rotated = await answer('key', 'rotate', labelled(made, 'key'), '--overlap', '60')
  for (const key of [labelled(made, 'apiKey'), labelled(rotated, 'apiKey')]) {
    expect(await ask(key, 'biconomy_getGasFeeValues', origin)).toBe(200)
    expect(await ask(key, 'biconomy_getGasFeeValues')).toBe(403)
    expect(await ask(key, 'pm_getPaymasterData', origin)).toBe(403)
  }
  expect(await refusal(...create, '--scopes', 'root')).toContain('--scopes')
})

test('what commands and requests changed is in a log that is whole', async () => {
  const { answer } = commands()
  const { url, authToken } = purser().info
  await fetch(`${url}/admin/v1/apps`, {
    method: 'POST',
    headers: { authToken },
    body: JSON.stringify({ name: 'by REST' }),
  })
  const rows = rowsOf(await answer('audit', 'list'))
  const actions = rows.map(({ action, actor }) => `${actor} ${action}`)
  expect(actions).toEqual(
    expect.arrayContaining([
      'account app.create',
      'command key.rotate',
      'command webhook.rotate_secret',
      'account webhook.create',
      'command subscription.replay',
    ]),
  )
  expect(await answer('audit', 'verify')).toContain('intact')
})

test('metrics tell what was asked and what waits', async () => {
  const { url, chainId } = purser().info
  const response = await fetch(`${url}/metrics`, {
    headers: { authorization: `Bearer ${operatorToken}` },
  })
  const text = await response.text()
  expect(text).toContain('purser_rpc_calls_total{method="eth_sendUserOperation",code="ok"} 1')
  expect(text).toContain(`purser_bundles_total{chain="${chainId}",state="included"} 1`)
  expect(text).toMatch(/purser_event_deliveries_total\{outcome="delivered"\} 3/)
})
