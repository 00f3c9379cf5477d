import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { version } from '../../src/base/version.js'
import { devKey } from '../../src/devnet/devKeys.js'
import { newestMigration } from '../../src/store/migrate.js'
import { type PublicChain, startPublicChain } from '../support/chain/publicChain.js'
import { useDatabase } from '../support/database/database.js'
import { databaseUrlOf } from '../support/database/databaseUrl.js'
import { commandsOn, expectOneSentence } from '../support/service/cliAnswers.js'
import { clientView } from '../support/service/clientView.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  runCli,
  startService,
  urlOf,
} from '../support/service/startPurser.js'
import { until } from '../support/until.js'
import { type LaterStep, laterBuild } from '../support/upgrade/laterBuild.js'

const CHAIN_ID = 1_701

const stopped: LaterStep = {
  name: '9998-stopped',
  kind: 'stoppedMigration',
  statement: 'create table purser_stopped (id int)',
}
const additive: LaterStep = {
  name: '9999-additive',
  kind: 'migration',
  statement: 'alter table operations add column purser_additive int not null default 1',
}

const server = useDatabase()
/** Only the services have sessions on it: whoever has one counts as a process of some version. */
const name = `upgraded_${randomUUID()}`
let chain: PublicChain
let folder: string
let apiKey: string
const running = new Set<RunningService>()
/** The command lines of the two later versions. */
let [next, afterNext] = ['', '']

beforeAll(async () => {
  chain = await startPublicChain(CHAIN_ID)
  folder = makeDataFolder()
  await sql`create database ${sql.id(name)}`.execute(server().database)
  for (const place of ['next', 'after']) mkdirSync(join(folder, place))
  next = laterBuild(join(folder, 'next'), [stopped])
  afterNext = laterBuild(join(folder, 'after'), [stopped, additive])
})
afterAll(async () => {
  for (const service of running) await service.end('SIGTERM')
  await sql`drop database ${sql.id(name)} with (force)`.execute(server().database)
  await chain?.stop()
  removeDataFolder(folder)
})

function environment() {
  const own = {
    chainId: CHAIN_ID,
    rpcUrls: [chain.rpcUrl],
    executorKeys: ['env:EXECUTOR'],
    pollInterval: 50,
  }
  return {
    DATABASE_URL: databaseUrlOf(server(), name),
    PURSER_MASTER_KEY: '5e'.repeat(32),
    EXECUTOR: devKey(1),
    PURSER_CHAINS: JSON.stringify([own]),
  }
}

const flags = () => ['serve', '--data', folder, '--port', '0', '--drain-seconds', '0']

async function serve(cli?: string): Promise<RunningService> {
  const service = await startService(flags(), environment(), cli)
  running.add(service)
  return service
}

/** The sentence of a process that refuses to start. */
async function refusal(cli?: string): Promise<string> {
  const args = [...flags(), '--log-level', 'silent']
  const { code, stdout, stderr } = await runCli(args, environment(), cli)
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  return expectOneSentence(stderr)
}

async function end(service: RunningService): Promise<void> {
  running.delete(service)
  expect((await service.end('SIGTERM')).code).toBe(0)
}

/** Resolves when the server of the database has seen that no process has a session any more. */
function allGone(): Promise<boolean> {
  return until(async () => {
    const { rows } = await sql`
      select from pg_stat_activity where datname = ${name}`.execute(server().database)
    return rows.length === 0
  })
}

/** Sends an operation to a process, which is included. */
async function expectServes(service: RunningService, seed: string): Promise<void> {
  const view = clientView(chain, urlOf(service), apiKey)
  const account = await devAccount(view, seed)
  const hash = await account.send(await account.selfPaid())
  expect((await receiptOf(view, hash)).success).toBe('true')
}

test('a version that needs the others stopped refuses beside them and names them; any other runs beside them, and none of them starts again', async () => {
  const oldest = await serve()
  apiKey = (await commandsOn(folder, environment()).tenant('upgraded')).apiKey
  await expectServes(oldest, 'before')

  expect(await refusal(next)).toMatch(
    /^This upgrade needs all processes of the earlier version stopped, and there are still: \d+ sessions of another version from this machine; \S+ \d+, which holds "bundler 1701" \(if it was killed, for \d+ s more\)\.$/,
  )
  await expectServes(oldest, 'refused beside it')
  await end(oldest)
  await allGone()

  const earlier = await serve(next)
  const later = await serve(afterNext)
  await expectServes(earlier, 'earlier beside later')
  await expectServes(later, 'later beside earlier')
  await end(later)
  await expectServes(earlier, 'earlier alone')
  await end(earlier)
  for (const [cli, schema] of [
    [next, stopped.name],
    [undefined, newestMigration],
  ] as const)
    expect(await refusal(cli)).toBe(
      `The database was changed by a newer version of Purser, up to ${additive.name}; this one (${version}+schema.${schema.slice(0, 4)}) ends at ${schema}. Start the newer version, or restore a backup that was made before it.`,
    )
})
