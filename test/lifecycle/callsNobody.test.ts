import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { join, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { pathToFileURL } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { commandsOn, rowsOf } from '../support/service/cliAnswers.js'
import { tenantInfo } from '../support/service/clientView.js'
import { fillTank } from '../support/service/fillTank.js'
import { included, intentsOf, prepare, send } from '../support/service/intents.js'
import { prepareServing, type Serving } from '../support/service/serving.js'
import { makeDataFolder, removeDataFolder } from '../support/service/startPurser.js'
import { until } from '../support/until.js'

/*
 * "Purser calls nobody": over a day in fast motion a service connects to what is configured, and to nothing else. What it
 * opens is listed twice: by JavaScript (fastDay.mjs) and, where strace is installed, by the kernel, for all threads and
 * processes.
 */
const CHAIN_ID = 1_721
const HOURS = 24
const hasStrace = spawnSync('strace', ['-qq', '-e', 'trace=connect', 'true']).status === 0

let serving: Serving
let folder: string
let child: ChildProcess
let url = ''
const servers: Server[] = []
const calls = { webhook: 0, events: 0, traces: 0 }

/** A server of somebody else that the configuration names. @returns host and port */
async function startServer(name: keyof typeof calls): Promise<string> {
  const server = createServer((request, response) => {
    calls[name]++
    request.resume()
    response.setHeader('content-type', 'application/json').end('{"arePoliciesVerified":true}')
  })
  servers.push(server)
  await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening))
  return `127.0.0.1:${(server.address() as AddressInfo).port}`
}

const javascriptList = () => join(folder, 'connections')
const kernelList = () => join(folder, 'strace')
const clock = () => join(folder, 'clock')

/** Starts `purser serve` with its connections listed. */
async function serve(settings: Readonly<Record<string, string>>): Promise<void> {
  const trace = ['-D', '-f', '-qq', '--seccomp-bpf', '-e', 'trace=connect', '-o', kernelList()]
  const program = [
    process.execPath,
    'dist/cli.js',
    'serve',
    '--data',
    serving.folder,
    '--port',
    '0',
  ]
  const [command = '', ...args] = [...(hasStrace ? ['strace', ...trace] : []), ...program]
  const preload = pathToFileURL(resolve('test/support/service/fastDay.mjs')).href
  child = spawn(command, args, {
    env: {
      ...process.env,
      ...serving.environment,
      ...settings,
      NODE_OPTIONS: `--import ${preload}`,
      PURSER_FAST_DAY: clock(),
      PURSER_CONNECTIONS: javascriptList(),
    },
  })
  let output = ''
  child.stderr?.on('data', (chunk) => {
    output += chunk
  })
  if (child.stdout === null) throw new Error('no output')
  for await (const line of createInterface(child.stdout)) {
    output += `${line}\n`
    url = /Purser is ready at (\S+)/.exec(line)?.[1] ?? ''
    if (url !== '') break
  }
  child.stdout.resume()
  if (url === '') throw new Error(output)
}

async function passHour(): Promise<void> {
  const socket = connect(clock())
  socket.resume()
  await once(socket, 'close')
}

beforeAll(async () => {
  folder = makeDataFolder()
  serving = await prepareServing(
    CHAIN_ID,
    async ({ rpcUrl }) => ({ rpcUrls: [rpcUrl], executorKeys: ['env:EXECUTOR'] }),
    { OWNER_KEY: devKey(3), PURSER_WEBHOOK_ALLOW: '127.0.0.1' },
  )
})

afterAll(async () => {
  if (child?.exitCode === null && child.signalCode === null) {
    const ended = once(child, 'exit')
    child.kill('SIGTERM')
    await ended
  }
  for (const server of servers) server.close()
  await serving?.stop()
  removeDataFolder(folder)
})

/** Where the process connected to, as JavaScript saw it: hosts with ports, and paths of sockets. */
function openedByJavaScript(): string[] {
  return [...new Set(readFileSync(javascriptList(), 'utf8').trim().split('\n'))].sort()
}

/** The same as the kernel saw it. */
function openedByKernel(): string[] {
  const text = readFileSync(kernelList(), 'utf8')
  const targets = [...text.matchAll(/connect\(\d+, \{(.*?)\}, \d+/g)].map(([, address = '']) => {
    const [, path] = /sun_path=@?"([^"]+)"/.exec(address) ?? []
    const [, port] = /sin6?_port=htons\((\d+)\)/.exec(address) ?? []
    const [, host] = /"([0-9a-f.:]+)"/.exec(address) ?? []
    return path ?? `${host}:${port}`
  })
  return [...new Set(targets)].sort()
}

test('a service connects to its database, nodes, webhooks, receivers of events and trace collector, and to nobody else in a day', async () => {
  const [webhook, events, traces] = [
    await startServer('webhook'),
    await startServer('events'),
    await startServer('traces'),
  ]
  const commands = commandsOn(serving.folder, serving.environment)
  const [app] = rowsOf(await commands.answer('app', 'list'))
  const appId = app?.id ?? ''
  const tank = await fillTank(commands, appId, CHAIN_ID)
  const ofApp = ['--app', appId, '--url']
  const registered = ['--request', 'POST', '--json']
  const created = JSON.parse(
    await commands.answer('webhook', 'create', ...ofApp, `http://${webhook}/`, ...registered),
  )
  await commands.answer('subscription', 'create', ...ofApp, `http://${events}/`)
  await serve({ OTEL_EXPORTER_OTLP_ENDPOINT: `http://${traces}` })
  const info = tenantInfo(serving.chain, url, serving.tenant, tank)
  const test = await fetch(
    `${url}/admin/v1/apps/${appId}/webhooks/${created.webhook.webhookId}/test`,
    {
      method: 'POST',
      headers: { authorization: `Bearer ${serving.tenant.authToken}` },
    },
  )
  expect(test.status).toBe(200)

  const traffic = async (name: string) => {
    const intents = intentsOf(name, 4)
    for (const intent of intents) {
      await prepare(info, intent)
      await send(info, intent)
    }
    await included(info, intents)
  }
  await traffic('morning')
  for (let hour = 0; hour < HOURS; hour++) await passHour()
  await traffic('the next day')
  await until(async () => calls.events > 0 && calls.traces > 0 && calls.webhook > 0)

  const node = new URL(serving.chain.rpcUrl).host
  const database = join(serving.folder, 'postgres/cluster/.s.PGSQL.5432')
  const configured = [database, events, node, traces, webhook].sort()
  expect(openedByJavaScript()).toEqual(configured)
  if (hasStrace) expect(openedByKernel()).toEqual(configured)
  expect(existsSync(kernelList())).toBe(hasStrace)
})
