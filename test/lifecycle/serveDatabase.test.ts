import { once } from 'node:events'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { bundlerLease } from '../../src/bundler/leadBundling.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { findLease, LEASE_TIME } from '../../src/db/leases.js'
import { type PublicChain, startPublicChain } from '../support/chain/publicChain.js'
import { useDatabase } from '../support/database/database.js'
import { commandsOn, expectOneSentence } from '../support/service/cliAnswers.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { processesOn } from '../support/service/processes.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  runCli,
  spawnCli,
  startService,
  urlOf,
} from '../support/service/startPurser.js'
import { until } from '../support/until.js'

/** A PostgreSQL that is not Purser's own to start and stop. */
const external = useDatabase()

let chain: PublicChain
let folder = ''
let service: RunningService | undefined
beforeAll(async () => {
  folder = makeDataFolder()
  chain = await startPublicChain(1_006)
})
afterAll(async () => {
  await service?.end('SIGTERM')
  await chain.stop()
  removeDataFolder(folder)
})

function databaseUrl(name?: string): string {
  const { connection } = external()
  if (!('socketFolder' in connection)) throw new Error('The tests use a socket.')
  const { socketFolder, user, database } = connection
  return `postgresql:///${name ?? database}?host=${encodeURIComponent(socketFolder)}&user=${user}`
}

function serveArguments(dataFolder = folder) {
  const { chainId, rpcUrl } = chain
  const chains = [
    { chainId, rpcUrls: [rpcUrl], executorKeys: ['env:EXECUTOR'], facts: { pollInterval: 50 } },
  ]
  const flags = ['--port', '0', '--log-level', 'error', '--chains', JSON.stringify(chains)]
  return ['serve', '--data', dataFolder, ...flags]
}
const quick = ['--drain-seconds', '0']
function environment(url = databaseUrl()) {
  return { DATABASE_URL: url, PURSER_MASTER_KEY: '5e'.repeat(32), EXECUTOR: devKey(1) }
}

const operatorToken = 'an-operator-token-of-32-characters-or-more'

describe('DATABASE_URL', () => {
  beforeEach(async () => {
    service ??= await startService([...serveArguments(), ...quick], environment())
  })

  test('names a server that commands and service use; none is started in the data folder', async () => {
    const { apiKey } = await commandsOn(folder, environment()).tenant('external')
    const url = `${urlOf(service!)}/api/v2/${chain.chainId}/${apiKey}`
    const view = { ...chain, bundlerUrl: url, paymasterUrl: url }
    const account = await devAccount(view, 'external')
    const hash = await account.send(await account.selfPaid())
    expect((await receiptOf(view, hash)).success).toBe('true')
    const { database } = external()
    const stored = await database.selectFrom('operations').select(['hash', 'state']).execute()
    expect(stored).toEqual([{ hash, state: 'included' }])
    expect(processesOn(folder).filter((line) => line.includes('postgres:'))).toEqual([])
    expect(processesOn(folder).length).toBe(1)
  })

  test('lets several services run, of which one bundles, and another one when that is gone', async () => {
    const other = makeDataFolder()
    const lease = () => findLease(external().database, bundlerLease(chain.chainId), LEASE_TIME)
    const second = await startService([...serveArguments(other), ...quick], environment())
    try {
      expect(await (await fetch(`${urlOf(second)}/health/ready`)).json()).toMatchObject({
        status: 'ok',
        chains: { [chain.chainId]: { bundlesHere: false, bundled: true } },
      })
      const before = await lease()
      const ended = service!.end('SIGTERM')
      const after = await until(async () => {
        const now = await lease()
        return now!.holder !== before!.holder && now
      })
      expect(after.token).toBe(before!.token + 1n)
      expect((await ended).code).toBe(0)
      service = undefined

      const { apiKey } = await commandsOn(other, environment()).tenant('second')
      const url = `${urlOf(second)}/api/v2/${chain.chainId}/${apiKey}`
      const view = { ...chain, bundlerUrl: url, paymasterUrl: url }
      const account = await devAccount(view, 'second')
      const hash = await account.send(await account.selfPaid())
      expect((await receiptOf(view, hash)).success).toBe('true')
    } finally {
      await second.end('SIGTERM')
      removeDataFolder(other)
    }
  })

  test('a process that only serves does not bundle; one that only bundles does not serve', async () => {
    const { apiKey } = await commandsOn(folder, environment()).tenant('roles')
    await service!.end('SIGTERM')
    const { EXECUTOR: _, ...withoutExecutor } = environment()
    const api = await startService([...serveArguments(), ...quick, '--role', 'api'], {
      ...withoutExecutor,
    })
    service = api
    const url = `${urlOf(api)}/api/v2/${chain.chainId}/${apiKey}`
    const view = { ...chain, bundlerUrl: url, paymasterUrl: url }
    const account = await devAccount(view, 'roles')
    const hash = await account.send(await account.selfPaid())
    expect(await (await fetch(`${urlOf(api)}/health/ready`)).json()).toMatchObject({
      status: 'ok',
      reasons: [`No process bundles for chain ${chain.chainId}.`],
      chains: { [chain.chainId]: { bundlesHere: false, bundled: false } },
    })
    const other = makeDataFolder()
    const bundler = await startService([...serveArguments(other), ...quick, '--role', 'bundler'], {
      ...environment(),
      PURSER_OPERATOR_TOKEN: operatorToken,
    })
    try {
      expect((await receiptOf(view, hash)).success).toBe('true')
      const headers = { authorization: `Bearer ${operatorToken}` }
      const ready = await fetch(`${urlOf(bundler)}/health/ready`, { headers })
      expect(await ready.json()).toMatchObject({
        chains: {
          [chain.chainId]: {
            executors: [{ role: 'executor', balance: expect.stringMatching(/^[1-9]\d+$/) }],
          },
        },
      })
      const { status } = await fetch(`${urlOf(bundler)}/api/v2/${chain.chainId}/${apiKey}`, {
        method: 'POST',
        body: '{"jsonrpc":"2.0","id":1,"method":"eth_chainId","params":[]}',
      })
      expect(status).toBe(503)
    } finally {
      await bundler.end('SIGTERM')
      removeDataFolder(other)
    }
  })
})

const wrongUrls: [string, () => string, string][] = [
  ['no such database', () => databaseUrl('no_such_database'), 'no_such_database'],
  ['not PostgreSQL', () => 'mysql://purser:geheim@127.0.0.1/purser', 'DATABASE_URL'],
  ['no URL', () => 'purser', 'DATABASE_URL'],
]
/** A server that may yet start there. */
const awayUrls: [string, () => string, string][] = [
  ['nobody listens', () => 'postgres://purser:geheim@127.0.0.1:1/purser', '127.0.0.1:1'],
  ['no socket', () => 'postgresql:///purser?host=/no/such/folder', '/no/such/folder'],
]

describe('a DATABASE_URL that is wrong ends with one sentence', () => {
  const commands: [string, () => string[], [string, () => string, string][]][] = [
    ['serve', () => serveArguments(), wrongUrls],
    ['account list', () => ['account', 'list', '--data', folder], [...wrongUrls, ...awayUrls]],
  ]
  test.each(
    commands.flatMap(([name, args, urls]) =>
      urls.map(([what, url, text]) => [name, what, args, url, text] as const),
    ),
  )('%s: %s', async (_, __, args, url, text) => {
    const { code, stdout, stderr } = await runCli(args(), environment(url()))
    expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
    const sentence = expectOneSentence(stderr)
    expect(sentence).toContain(text)
    expect(sentence).not.toContain('geheim')
  })

  test.each(awayUrls)('serve waits, until it is asked to stop: %s', async (_, url, text) => {
    const waiting = spawnCli([...serveArguments(), '--log-level', 'warn'], environment(url()))
    const ended = once(waiting, 'close')
    let output = ''
    for (const stream of [waiting.stdout, waiting.stderr])
      stream.on('data', (chunk) => {
        output += chunk
      })
    await until(async () => output.includes('waiting for the database, which does not answer'))
    expect(output).toContain(text)
    expect(output).not.toContain('geheim')
    waiting.kill('SIGTERM')
    expect(await ended).toEqual([0, null])
  })
})
