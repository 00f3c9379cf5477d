import { expect, test } from 'vitest'
import type { Json } from '../../../test/support/http/jsonRpc.js'
import { rpcPath, useApi } from '../../../test/support/http/useApi.js'
import { createMetrics } from '../../telemetry/createMetrics.js'
import { unrestricted } from '../../tenants/keyOwner.js'
import { defaultLimits } from '../routeContext.js'

const { call, memory, post, restart, url } = useApi()

const slow = { perSecond: 0.001, burst: 2 }

test.each(['v2', 'v3'])('%s: too many calls of a key are 429 with retry-after', async (version) => {
  await restart({ limits: { ...defaultLimits, gate: { ...defaultLimits.gate, key: slow } } })
  expect((await call(version, 'eth_chainId', [])).status).toBe(200)
  expect((await call(version, 'eth_chainId', [])).status).toBe(200)
  const refused = await call(version, 'eth_chainId', [], 'mine')
  expect(refused.status).toBe(429)
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(900)
  expect(refused.body).toMatchObject({
    id: 'mine',
    error: { code: -32005, data: { limit: 'key' } },
  })
})

test('in a batch only the calls above the limit are refused', async () => {
  await restart({ limits: { ...defaultLimits, gate: { ...defaultLimits.gate, key: slow } } })
  const batch = [1, 2, 3].map((id) => ({ jsonrpc: '2.0', id, method: 'eth_chainId', params: [] }))
  const { status, body } = await post(rpcPath('v3'), JSON.stringify(batch))
  expect(status).toBe(200)
  expect(body).toMatchObject([
    { result: '0x7a69' },
    { result: '0x7a69' },
    { error: { code: -32005 } },
  ])
})

test('a batch of documents is bounded by what a key may ask, and a file of them costs no key', async () => {
  const { burst } = defaultLimits.gate.key
  const key = { perSecond: 0.001, burst }
  await restart({ limits: { ...defaultLimits, gate: { ...defaultLimits.gate, key } } })
  const ask = (id: number) => ({ jsonrpc: '2.0', id, method: 'rpc.discover', params: [] })
  const batch = Array.from({ length: defaultLimits.batchLength }, (_, id) => ask(id))
  const { body } = await post(rpcPath('v3'), JSON.stringify(batch))
  const answers = body as { result?: { openrpc: string }; error?: { data: { limit: string } } }[]
  const documents = answers.filter(({ result }) => result !== undefined)
  // 107 kB and a millisecond of the answering thread each.
  expect(documents.length).toBe(20)
  expect(answers.filter(({ error }) => error?.data.limit === 'key')).toHaveLength(
    batch.length - documents.length,
  )
  const file = await fetch(`${url()}/api/v3/openrpc.json`)
  expect(file.headers.get('content-type')).toBe('application/json')
  const document = (await file.json()) as Json
  expect(document).toEqual(documents[0]?.result)
  const names: string[] = document.methods.map(({ name }: { name: string }) => name)
  expect(names).toContain('eth_sendUserOperation')
  expect(names.filter((name) => name.startsWith('debug_'))).toEqual([])
})

test('answers of a batch that are too large together are errors in their places', async () => {
  const { services, chain } = memory()
  const { reads } = chain
  if (reads === undefined) throw new Error('There are reads.')
  const large = { ...reads, read: async () => 'x'.repeat(8 * 1024 * 1024) }
  const chains = new Map([[chain.chainId, { ...chain, reads: large }]])
  await restart({ services: { ...services, chains } })
  const read = { jsonrpc: '2.0', method: 'eth_getBlockByNumber', params: ['0x1', true] }
  const small = { jsonrpc: '2.0', id: 'small', method: 'eth_chainId', params: [] }
  const batch = [1, 2, 3, 4, 5].map((id) => ({ ...read, id }))
  const { status, body } = await post(rpcPath('v3'), JSON.stringify([...batch, small]))
  expect(status).toBe(200)
  expect(body.map(({ id }: Json) => id)).toEqual([1, 2, 3, 4, 5, 'small'])
  const refused = body.filter(({ error }: Json) => error?.code === -32600)
  expect(refused).toHaveLength(2)
  expect(body.at(-1).result).toBe('0x7a69')
  expect((await call('v3', read.method, read.params)).body.result).toHaveLength(8 * 1024 * 1024)
})

test('an address that asks too much is refused before anything is read', async () => {
  await restart({ limits: { ...defaultLimits, gate: { ...defaultLimits.gate, ip: slow } } })
  await call('v2', 'eth_chainId', [])
  await call('v2', 'eth_chainId', [])
  const refused = await post(rpcPath('v2'), 'not even JSON')
  expect(refused).toMatchObject({ status: 429, body: { error: { data: { limit: 'ip' } } } })
  const webhooks = await fetch(`${url()}/api/v2/public/sdk/webhook`, {
    headers: { authToken: 'x', apiKey: 'y' },
  })
  expect(webhooks.status).toBe(429)
  expect(webhooks.headers.get('retry-after')).not.toBeNull()
})

test('guessing keys is held up per address, and the known key goes on', async () => {
  const failures = { perSecond: 0.001, burst: 3 }
  await restart({ limits: { ...defaultLimits, gate: { ...defaultLimits.gate, failures } } })
  expect((await call('v2', 'eth_chainId', [])).status).toBe(200)
  const guess = (key: string) =>
    post(`/api/v2/31337/${key}`, '{"id":1,"method":"eth_chainId","params":[]}')
  for (const key of ['a', 'b', 'c']) expect((await guess(key)).status).toBe(401)
  expect((await guess('d')).status).toBe(429)
  expect((await call('v2', 'eth_chainId', [])).status).toBe(200)
})

test('what a key may not do is refused with the reason', async () => {
  const owner = { keyId: 'k', appId: 'app-1', accountId: 'account-1' }
  const identity = { ...owner, ...unrestricted, appQuotas: null }
  const restrict = (limits: Partial<typeof unrestricted>) =>
    restart({
      services: { ...memory().services, authenticateKey: async () => ({ ...identity, ...limits }) },
    })
  await restrict({ allowedIps: ['203.0.113.0/24'] })
  expect(await call('v3', 'eth_chainId', [])).toMatchObject({
    status: 403,
    body: { error: { code: -32001, data: { restriction: 'ip' } } },
  })
  await restrict({ allowedOrigins: ['https://dapp.example'] })
  const body = '{"id":1,"method":"eth_chainId","params":[]}'
  expect((await post(rpcPath('v3'), body)).status).toBe(403)
  const good = await post(rpcPath('v3'), body, { origin: 'https://dapp.example' })
  expect(good.status).toBe(200)
  await restrict({ scopes: ['bundler'] })
  expect(await call('v2', 'pm_sponsorUserOperation', [])).toMatchObject({
    status: 403,
    body: { error: { data: { restriction: 'method' } } },
  })
  expect((await call('v2', 'eth_chainId', [])).status).toBe(200)
})

test('calls are counted by method and code, and unknown names do not make labels', async () => {
  const metrics = createMetrics()
  await restart({ metrics })
  await call('v2', 'eth_chainId', [])
  await call('v2', 'made_up_1', [])
  await call('v2', 'made_up_2', [])
  const text = await metrics.text()
  expect(text).toContain('purser_rpc_calls_total{method="eth_chainId",code="ok"} 1')
  expect(text).toContain('purser_rpc_calls_total{method="unknown",code="-32601"} 2')
  expect(text).not.toContain('made_up')
})
