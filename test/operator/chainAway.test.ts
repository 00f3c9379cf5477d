import { symlinkSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, createServer as createSocketServer } from 'node:net'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type PublicChain, startPublicChain } from '../support/chain/publicChain.js'
import { useDatabase } from '../support/database/database.js'
import { databaseUrlOf } from '../support/database/databaseUrl.js'
import { type Json, rpc } from '../support/http/jsonRpc.js'
import { quietPort } from '../support/quietPort.js'
import { commandsOn, expectOneSentence } from '../support/service/cliAnswers.js'
import { clientView } from '../support/service/clientView.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { processesOn } from '../support/service/processes.js'
import { servedChain, servedChains } from '../support/service/servedChain.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  runCli,
  startService,
  urlOf,
} from '../support/service/startPurser.js'
import { until } from '../support/until.js'

const AWAY = 1_512

const postgres = useDatabase()
let chain: PublicChain
let other: PublicChain
let folder = ''
beforeAll(async () => {
  folder = makeDataFolder()
  ;[chain, other] = await Promise.all([startPublicChain(1_511), startPublicChain(AWAY)])
})
afterAll(async () => {
  await Promise.all([chain.stop(), other.stop()])
  removeDataFolder(folder)
})

/** A node of the second chain that begins to answer on the port. */
async function answerOn(port: number): Promise<Server> {
  const server = createServer(async (request, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of request) chunks.push(chunk as Buffer)
    const headers = { 'content-type': 'application/json' }
    const answer = await fetch(other.rpcUrl, {
      method: 'POST',
      headers,
      body: Buffer.concat(chunks),
    })
    response.writeHead(answer.status, headers).end(Buffer.from(await answer.arrayBuffer()))
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return server
}

const flags = () => ['--data', folder, '--port', '0', '--log-level', 'info', '--drain-seconds', '0']

function serveWith(
  chains: readonly ReturnType<typeof servedChain>[],
  ...more: readonly string[]
): Promise<RunningService> {
  return startService(['serve', ...flags(), ...more], servedChains(chains))
}

async function ready(service: RunningService, query = '') {
  const response = await fetch(`${urlOf(service)}/health/ready${query}`)
  return { status: response.status, body: (await response.json()) as Json }
}

describe('a chain whose node is away when the service starts', () => {
  test('takes no other chain with it, is refused with -32005, and is served when its node comes', async () => {
    const port = await quietPort()
    const away = servedChain({ chainId: AWAY, rpcUrl: `http://127.0.0.1:${port}/a-secret-path` })
    const service = await serveWith([servedChain(chain), away])
    let node: Server | undefined
    try {
      const said = `Chain ${AWAY} does not answer at 127.0.0.1:${port}`
      await until(async () => service.output().includes(said))
      expect(service.output()).not.toContain('a-secret-path')
      const { apiKey } = await commandsOn(folder).tenant('away')
      const view = (each: PublicChain) => clientView(each, urlOf(service), apiKey)
      const account = await devAccount(view(chain), 'other chain')
      const hash = await account.send(await account.selfPaid())
      expect((await receiptOf(view(chain), hash)).success).toBe('true')

      expect((await ready(service)).status).toBe(200)
      expect((await ready(service)).body.checks).toMatchObject({
        [`chain ${chain.chainId}`]: true,
        [`chain ${AWAY}`]: false,
      })
      expect((await ready(service, `?chain=${chain.chainId}`)).status).toBe(200)
      const { status, body } = await ready(service, `?chain=${AWAY}`)
      expect(status).toBe(503)
      expect(body.reasons.join()).toContain(`Chain ${AWAY}`)
      expect(JSON.stringify(body)).not.toContain(String(port))
      expect((await ready(service, '?chain=99')).status).toBe(503)
      expect((await ready(service, '?chain=x')).status).toBe(400)

      const refused = await rpc(view(other).bundlerUrl, 'eth_chainId', [])
      expect({ status: refused.status, code: refused.body.error?.code }).toEqual({
        status: 503,
        code: -32005,
      })
      const headers = { method: 'POST', body: '{"id":1,"method":"eth_chainId"}' }
      const { headers: answered } = await fetch(view(other).bundlerUrl, headers)
      expect(answered.get('retry-after')).toBe('1')

      node = await answerOn(port)
      await until(async () => (await ready(service, `?chain=${AWAY}`)).status === 200)
      const late = await devAccount(view(other), 'late')
      const lateHash = await late.send(await late.selfPaid())
      expect((await receiptOf(view(other), lateHash)).success).toBe('true')
    } finally {
      expect((await service.end('SIGTERM')).code).toBe(0)
      node?.close()
      node?.closeAllConnections()
    }
    expect(processesOn(folder)).toEqual([])
  })

  test('alone, lets the service start, which is not ready, and ends at once when asked', async () => {
    const service = await serveWith([servedChain({ chainId: AWAY, rpcUrl: 'http://127.0.0.1:1' })])
    const { status, body } = await ready(service)
    expect(status).toBe(503)
    expect(body.checks).toMatchObject({ serving: true, database: true, [`chain ${AWAY}`]: false })
    expect((await service.end('SIGTERM')).code).toBe(0)
    expect(processesOn(folder)).toEqual([])
  })

  test('without a database, the service says so, and starts once it is there', async () => {
    const port = await quietPort()
    const sockets = join(folder, 'sockets')
    const { connection } = postgres()
    if (!('socketFolder' in connection)) throw new Error('The tests use a socket.')
    const url = databaseUrlOf(postgres()).replace(
      encodeURIComponent(connection.socketFolder),
      encodeURIComponent(sockets),
    )
    const environment = servedChains([servedChain(chain)], { DATABASE_URL: url })
    const args = ['serve', ...flags(), '--port', String(port)]
    const starting = startService(args, environment)
    const ask = (path: string) => fetch(`http://127.0.0.1:${port}${path}`).catch(() => undefined)
    const unready = await until(() => ask('/health/ready'))
    expect(unready.status).toBe(503)
    expect(await unready.json()).toMatchObject({ checks: { database: false } })
    expect((await ask('/health/live'))?.status).toBe(200)
    // A second look has failed before it comes.
    await until(() => ask('/health/ready'))
    symlinkSync(connection.socketFolder, sockets)
    const service = await starting
    expect((await ready(service)).status).toBe(200)
    const lines = service.output().split('\n')
    expect(lines.filter((line) => line.includes('waiting for the database'))).toHaveLength(1)
    expect(lines.filter((line) => line.includes('the database answers'))).toHaveLength(1)
    expect((await service.end('SIGTERM')).code).toBe(0)
  })

  test('that accepts connections and never answers does not hold the others up', async () => {
    const silent = createSocketServer(() => {})
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    const { port } = silent.address() as AddressInfo
    // The start would wait for ever for an answer of that node.
    const service = await serveWith([
      servedChain(chain),
      servedChain({ chainId: AWAY, rpcUrl: `http://127.0.0.1:${port}` }),
    ])
    try {
      expect((await ready(service)).status).toBe(200)
      expect((await ready(service, `?chain=${AWAY}`)).status).toBe(503)
    } finally {
      expect((await service.end('SIGTERM')).code).toBe(0)
      silent.close()
    }
  })
})

describe('mistakes stay mistakes', () => {
  const cases: readonly [string, () => ReturnType<typeof servedChain>, RegExp][] = [
    [
      'another chain id',
      () => servedChain({ ...chain, chainId: 10 }),
      /chain 10 serves chain 1511/,
    ],
    [
      'an EntryPoint that is not there',
      () => ({
        ...servedChain(chain),
        entryPoints: [{ version: '0.6', address: `0x${'ab'.repeat(20)}` }],
      }),
      /no EntryPoint 0\.6/,
    ],
  ]
  test.each(cases)('%s, with a second chain that works', async (_, wrong, text) => {
    const args = ['serve', ...flags(), '--log-level', 'error']
    const { code, stdout, stderr } = await runCli(args, servedChains([servedChain(other), wrong()]))
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    expect(expectOneSentence(stderr)).toMatch(text)
    expect(processesOn(folder)).toEqual([])
  })
})

describe('a process that only bundles', () => {
  test('says its role, is not ready for requests, and can be asked whether it bundles', async () => {
    const service = await serveWith([servedChain(chain)], '--role', 'bundler')
    try {
      const traffic = await ready(service)
      expect(traffic.status).toBe(503)
      expect(traffic.body).toMatchObject({ roles: ['bundler'], checks: { 'role api': false } })
      expect(traffic.body.reasons.join()).toContain('only bundles')
      expect((await ready(service, '?role=bundler')).status).toBe(200)
      expect((await ready(service, '?role=cook')).status).toBe(400)
      const { apiKey } = await commandsOn(folder).tenant('bundler only')
      const url = `${urlOf(service)}/api/v2/${chain.chainId}/${apiKey}`
      const { status, body } = await rpc(url, 'eth_chainId', [])
      expect({ status, code: body.error?.code }).toEqual({ status: 503, code: -32005 })
      expect(body.error?.message).toContain('role')
    } finally {
      expect((await service.end('SIGTERM')).code).toBe(0)
    }
  })

  test('a process that only serves is not able to bundle', async () => {
    const environment = {
      PURSER_CHAINS: JSON.stringify([servedChain(chain)]),
    }
    const service = await startService(['serve', '--role', 'api', ...flags()], environment)
    try {
      expect((await ready(service)).status).toBe(200)
      expect((await ready(service, '?role=bundler')).status).toBe(503)
    } finally {
      expect((await service.end('SIGTERM')).code).toBe(0)
    }
  })
})
