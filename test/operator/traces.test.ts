import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { resolve } from 'node:path'
import { pathToFileURL } from 'node:url'
import { keccak256, numberToHex } from 'viem'
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { createTraces } from '../../src/telemetry/traces/otlp/createTraces.js'
import { useDatabase } from '../support/database/database.js'
import { databaseUrlOf } from '../support/database/databaseUrl.js'
import { silent } from '../support/logger.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { type Fleet, startFleet } from '../support/service/fleet.js'
import {
  makeDataFolder,
  removeDataFolder,
  runCli,
  startService,
} from '../support/service/startPurser.js'
import { until } from '../support/until.js'

const CHAIN_ID = 31_337
const external = useDatabase()

type Attributes = Readonly<Record<string, string>>
type Span = {
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly links?: readonly { traceId: string; spanId: string; flags: number }[]
  readonly name: string
  readonly begin: bigint
  readonly end: bigint
  readonly attributes: Attributes
  readonly process: string
}

type Encoded = readonly { key: string; value: { stringValue?: string; intValue?: string } }[]

function attributesOf(encoded: Encoded): Attributes {
  return Object.fromEntries(
    encoded.map(({ key, value }) => [key, value.stringValue ?? value.intValue ?? '']),
  )
}

type Export = {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: Encoded }
    readonly scopeSpans: readonly {
      readonly spans: readonly (Omit<Span, 'attributes' | 'begin' | 'end' | 'process'> & {
        readonly startTimeUnixNano: string
        readonly endTimeUnixNano: string
        readonly attributes: Encoded
      })[]
    }[]
  }[]
}

/** A receiver of OTLP over HTTP. */
async function startReceiver() {
  const spans: Span[] = []
  const requests: { path: string | undefined; headers: Record<string, unknown> }[] = []
  const server: Server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    requests.push({ path: request.url, headers: request.headers })
    const body = JSON.parse(Buffer.concat(chunks).toString()) as Export
    for (const { resource, scopeSpans } of body.resourceSpans)
      for (const { attributes, startTimeUnixNano, endTimeUnixNano, ...span } of scopeSpans.flatMap(
        (scope) => scope.spans,
      ))
        spans.push({
          ...span,
          begin: BigInt(startTimeUnixNano),
          end: BigInt(endTimeUnixNano),
          attributes: attributesOf(attributes),
          process: attributesOf(resource.attributes)['process.pid'] ?? '',
        })
    response.end('{}')
  })
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done))
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  return { url, spans, requests, close: () => server.close() }
}

describe('the way of an operation over processes that serve and processes that bundle', () => {
  let receiver: Awaited<ReturnType<typeof startReceiver>>
  let fleet: Fleet

  beforeAll(async () => {
    receiver = await startReceiver()
    vi.stubEnv('OTEL_EXPORTER_OTLP_ENDPOINT', receiver.url)
    vi.stubEnv('OTEL_EXPORTER_OTLP_HEADERS', 'authorization=Bearer%20of-the-receiver')
    fleet = await startFleet(CHAIN_ID)
    vi.unstubAllEnvs()
  })

  afterAll(async () => {
    vi.unstubAllEnvs()
    await fleet?.stop()
    receiver?.close()
  })

  test('is one trace, whose id is the start of its hash', async () => {
    const info = fleet.info()
    const account = await devAccount(info, 'traced')
    const hash = await account.send(await account.sponsored())
    expect((await receiptOf(info, hash)).success).toBe('true')
    const own = () => receiver.spans.filter(({ traceId }) => traceId === hash.slice(2, 34))
    const of = (name: string) => own().find((span) => span.name === name)
    const stages = ['sponsor', 'admit', 'pool', 'bundle', 'inclusion']
    await until(async () => own().length === stages.length + 1)

    const way = of('operation')
    expect(way?.spanId).toBe(hash.slice(34, 50))
    expect(way?.parentSpanId).toBeUndefined()
    expect(way?.attributes).toMatchObject({
      'purser.operation': hash,
      'purser.outcome': 'included',
      'purser.transaction': expect.stringMatching(/^0x[0-9a-f]{64}$/),
      'purser.decision_id': of('sponsor')?.attributes['purser.decision_id'],
    })
    for (const name of stages) {
      expect(of(name)?.parentSpanId, name).toBe(way?.spanId)
      expect(Number((of(name)?.end ?? 0n) - (of(name)?.begin ?? 1n)), name).toBeGreaterThanOrEqual(
        0,
      )
    }
    // One stage begins where the one before ended.
    expect(of('pool')?.begin).toBe(way?.begin)
    expect(of('bundle')?.begin).toBe(of('pool')?.end)
    expect(of('inclusion')?.end).toBe(way?.end)

    const [api, , bundler] = ['admit', 'sponsor', 'operation'].map((name) => of(name)?.process)
    expect(api).not.toBe(bundler)
    expect(new Set(['pool', 'bundle', 'inclusion'].map((name) => of(name)?.process))).toEqual(
      new Set([bundler]),
    )
    expect(receiver.requests[0]).toMatchObject({
      path: '/v1/traces',
      headers: { authorization: 'Bearer of-the-receiver' },
    })
    expect(own().flatMap(({ links }) => links ?? [])).toEqual([])
  })

  /** The spans of an operation whose requests carry the header, once all are exported. */
  async function spansCalledFrom(traceparent: string): Promise<readonly Span[]> {
    const plain = globalThis.fetch
    vi.stubGlobal('fetch', (input: string | URL, init: RequestInit = {}) =>
      plain(input, { ...init, headers: { ...init.headers, traceparent } }),
    )
    try {
      const info = fleet.info()
      const account = await devAccount(info, traceparent)
      const hash = await account.send(await account.sponsored())
      return await until(async () => {
        const own = receiver.spans.filter(({ traceId }) => traceId === hash.slice(2, 34))
        return own.length === 6 && own
      })
    } finally {
      vi.unstubAllGlobals()
    }
  }

  test('is linked to the span of the caller where its requests were answered, and nowhere else', async () => {
    const [traceId, spanId] = ['4bf92f3577b34da6a3ce929d0e0e4736', '00f067aa0ba902b7']
    const spans = await spansCalledFrom(`00-${traceId}-${spanId}-01`)
    for (const { name, links } of spans)
      expect({ name, links }).toEqual({
        name,
        links: ['sponsor', 'admit'].includes(name) ? [{ traceId, spanId, flags: 1 }] : undefined,
      })
    for (const { links } of await spansCalledFrom(`00-${traceId}-${spanId}-01, ${traceId}`))
      expect(links).toBeUndefined()
  })
})

describe('the sender', () => {
  test('sends all that waits at once, however many spans came since the last time', async () => {
    const receiver = await startReceiver()
    vi.useFakeTimers({ toFake: ['setInterval'] })
    try {
      const { url } = receiver
      const settings = { url, headers: {}, serviceName: 'purser', share: 1 }
      const traces = createTraces(settings, silent)
      const numbers = Array.from({ length: 4_000 }, (_, number) => number)
      const hashes = numbers.map((number) => keccak256(numberToHex(number)))
      for (const userOpHash of hashes)
        traces.admitted({ userOpHash, chainId: CHAIN_ID, appId: 'app', begin: Date.now() })
      vi.advanceTimersToNextTimer()
      await until(async () => receiver.spans.length >= 3_584)
      await traces.close()
      expect(receiver.spans.map(({ traceId }) => traceId)).toEqual(
        hashes.map((hash) => hash.slice(2, 34)),
      )
    } finally {
      vi.useRealTimers()
      receiver.close()
    }
  })
})

describe('a service', () => {
  const preload = pathToFileURL(resolve('test/support/service/loadedPackages.mjs')).href
  const folder = makeDataFolder()
  afterAll(() => removeDataFolder(folder))

  /** Whether the sender of traces was loaded by a service with that environment. */
  async function loadsSender(environment: Readonly<Record<string, string>>): Promise<boolean> {
    const chains = [{ chainId: 10, rpcUrls: ['http://127.0.0.1:1'] }]
    const own = {
      DATABASE_URL: databaseUrlOf(external()),
      PURSER_CHAINS: JSON.stringify(chains),
      NODE_OPTIONS: `--import ${preload}`,
    }
    const flags = ['--data', folder, '--port', '0', '--role', 'api', '--drain-seconds', '0']
    const service = await startService(['serve', ...flags], { ...own, ...environment })
    expect((await service.end('SIGTERM')).code).toBe(0)
    await until(async () => /^\[".*"\]$/m.test(service.output()))
    const [line = '[]'] = /^\[".*"\]$/m.exec(service.output()) ?? []
    return (JSON.parse(line) as string[]).includes('the sender of traces')
  }

  test('loads nothing of traces unless an endpoint is configured', async () => {
    expect(await loadsSender({})).toBe(false)
    expect(await loadsSender({ OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1' })).toBe(true)
  })

  test('refuses an endpoint that is none, in one sentence', async () => {
    const flags = ['serve', '--data', folder, '--port', '0']
    const { code, stderr } = await runCli(flags, {
      OTEL_EXPORTER_OTLP_ENDPOINT: 'collector:4318',
      PURSER_CHAINS: JSON.stringify([{ chainId: 10, rpcUrls: ['http://127.0.0.1:1'] }]),
      PURSER_ROLE: 'api',
    })
    expect(code).toBe(1)
    expect(stderr).toContain('OTEL_EXPORTER_OTLP_ENDPOINT must be an http or https URL')
  })
})
