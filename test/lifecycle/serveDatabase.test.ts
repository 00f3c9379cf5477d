import { once } from 'node:events'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { devKey } from '../../src/devnet/devKeys.js'
import { commandsOn, expectOneSentence } from '../support/cliAnswers.js'
import { useDatabase } from '../support/database.js'
import { devAccount, receiptOf } from '../support/devAccount.js'
import { processesOn } from '../support/processes.js'
import { type PublicChain, startPublicChain } from '../support/publicChain.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  runCli,
  startService,
  urlOf,
} from '../support/startPurser.js'
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

const databaseUrl = (name?: string): string => {
  const { connection } = external()
  if (!('socketFolder' in connection)) throw new Error('The tests use a socket.')
  const { socketFolder, user, database } = connection
  return `postgresql:///${name ?? database}?host=${encodeURIComponent(socketFolder)}&user=${user}`
}

const serveArguments = (dataFolder = folder) => {
  const { chainId, rpcUrl } = chain
  const chains = [{ chainId, rpcUrls: [rpcUrl], executorKeys: ['env:EXECUTOR'], pollInterval: 50 }]
  const flags = ['--port', '0', '--log-level', 'error', '--chains', JSON.stringify(chains)]
  return ['serve', '--data', dataFolder, ...flags]
}
const environment = (url = databaseUrl()) => ({ DATABASE_URL: url, EXECUTOR: devKey(1) })

/** Who holds the right to run on the external database, or waits for it. */
const serviceLocks = async (granted: boolean) => {
  const query = sql<{ pid: number; key: bigint }>`
    select pid, (classid::bigint << 32) | objid::bigint as key
    from pg_locks join pg_database d on d.oid = database
    where locktype = 'advisory' and datname = current_database() and granted = ${granted}`
  return (await query.execute(external().database)).rows
}

describe('DATABASE_URL', () => {
  beforeEach(async () => {
    service ??= await startService(serveArguments(), environment())
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

  test('lets one service run, from whatever data folder', async () => {
    const other = makeDataFolder()
    try {
      const { code, stderr } = await runCli(serveArguments(other), environment())
      expect(code).toBe(1)
      expect(expectOneSentence(stderr)).toMatch(/already runs on this database/)
    } finally {
      removeDataFolder(other)
    }
  })

  test('a service that another one has replaced stops', async () => {
    const { database } = external()
    const ended = once(service!.process, 'close')
    await database.connection().execute(async (session) => {
      const [lock] = await serviceLocks(true)
      // Stands in line while the service has the lock, and so gets it before the service can again.
      const replaced = sql`select pg_advisory_lock(${lock!.key})`.execute(session)
      await until(async () => (await serviceLocks(false)).length === 1)
      await sql`select pg_terminate_backend(${lock!.pid})`.execute(database)
      await replaced
      expect(await ended).toEqual([1, null])
    })
    expect(service!.output()).toMatch(/Another Purser/)
    expect(processesOn(folder)).toEqual([])
    service = undefined
  })
})

describe('a DATABASE_URL that is wrong ends with one sentence', () => {
  test.each([
    ['nobody listens', () => 'postgres://purser:geheim@127.0.0.1:1/purser', '127.0.0.1:1'],
    ['no such database', () => databaseUrl('no_such_database'), 'no_such_database'],
    ['no socket', () => 'postgresql:///purser?host=/no/such/folder', '/no/such/folder'],
    ['not PostgreSQL', () => 'mysql://purser:geheim@127.0.0.1/purser', 'DATABASE_URL'],
    ['no URL', () => 'purser', 'DATABASE_URL'],
  ])('%s', async (_, url, text) => {
    for (const args of [serveArguments(), ['account', 'list', '--data', folder]]) {
      const { code, stdout, stderr } = await runCli(args, environment(url()))
      expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
      const sentence = expectOneSentence(stderr)
      expect(sentence).toContain(text)
      expect(sentence).not.toContain('geheim')
    }
  })
})
