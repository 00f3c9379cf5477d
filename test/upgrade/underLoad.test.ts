import { randomUUID } from 'node:crypto'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { buildVersion } from '../../src/base/version.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { type Database, openDatabase } from '../../src/db/database.js'
import { newestMigration } from '../../src/db/migrate.js'
import { type PublicChain, startPublicChain } from '../support/chain/publicChain.js'
import { useDatabase } from '../support/database/database.js'
import { databaseUrlOf } from '../support/database/databaseUrl.js'
import { silent } from '../support/logger.js'
import { commandsOn, expectOneSentence } from '../support/service/cliAnswers.js'
import { tenantInfo } from '../support/service/clientView.js'
import { fillTank } from '../support/service/fillTank.js'
import { type Intent, included, intentsOf, prepare, send } from '../support/service/intents.js'
import {
  makeDataFolder,
  type RunningService,
  removeDataFolder,
  runCli,
  startService,
  urlOf,
} from '../support/service/startPurser.js'
import { until } from '../support/until.js'
import { laterBuild } from '../support/upgrade/laterBuild.js'

const CHAIN_ID = 1_701

/** A step as a later version may have one: it adds what rows need, and rewrites them. */
const STEP = '9999-later'
const STATEMENTS = `alter table operations add column tries int not null default 1;
  update operations set tries = attempts + 1;
  create index on operations (tries);`

const server = useDatabase()
const name = `upgraded_${randomUUID()}`
let database: Database
let chain: PublicChain
let folder: string
const running = new Set<RunningService>()
/** The command line of the later version. */
let later = ''

beforeAll(async () => {
  chain = await startPublicChain(CHAIN_ID)
  folder = makeDataFolder()
  await sql`create database ${sql.id(name)}`.execute(server().database)
  database = openDatabase({ url: databaseUrlOf(server(), name) }, silent, { size: 1 })
  mkdirSync(join(folder, 'later'))
  later = laterBuild(join(folder, 'later'), STEP, STATEMENTS)
})
afterAll(async () => {
  for (const service of running) await service.end('SIGTERM')
  await database?.destroy()
  await sql`drop database ${sql.id(name)} with (force)`.execute(server().database)
  await chain?.stop()
  removeDataFolder(folder)
})

function environment() {
  const own = {
    chainId: CHAIN_ID,
    rpcUrls: [chain.rpcUrl],
    executorKeys: ['env:EXECUTOR'],
    facts: { pollInterval: 50 },
  }
  return {
    DATABASE_URL: databaseUrlOf(server(), name),
    PURSER_MASTER_KEY: '5e'.repeat(32),
    EXECUTOR: devKey(1),
    OWNER_KEY: devKey(3),
    PURSER_CHAINS: JSON.stringify([own]),
  }
}

const flags = () => ['serve', '--data', folder, '--port', '0', '--drain-seconds', '0']

async function serve(cli?: string): Promise<RunningService> {
  const service = await startService(flags(), environment(), cli)
  running.add(service)
  return service
}

async function end(service: RunningService): Promise<void> {
  running.delete(service)
  expect((await service.end('SIGTERM')).code).toBe(0)
}

test('a later version migrates a database in use: no request fails, each operation is included once, the earlier version goes on but does not start again', async () => {
  const earlier = await serve()
  const commands = commandsOn(folder, environment())
  const tenant = await commands.tenant('upgraded')
  const tank = await fillTank(commands, tenant.appId, CHAIN_ID)
  const infoOf = (service: RunningService) => tenantInfo(chain, urlOf(service), tenant, tank)
  const sent: Intent[] = []
  const serveIntent = async (service: RunningService, intent: Intent) => {
    await prepare(infoOf(service), intent)
    await send(infoOf(service), intent)
    sent.push(intent)
  }
  for (const intent of intentsOf('before', 4)) await serveIntent(earlier, intent)
  await included(infoOf(earlier), sent)

  let isUpgraded = false
  const load = [0, 1].map(async (client) => {
    for (let round = 0; !isUpgraded; round++)
      for (const intent of intentsOf(`during ${client} ${round}`, 2))
        await serveIntent(earlier, intent)
  })
  await until(async () => sent.length > 6)
  const upgraded = await serve(later)
  const atUpgrade = sent.length
  await until(async () => sent.length > atUpgrade + 4)
  isUpgraded = true
  await Promise.all(load)
  for (const intent of intentsOf('later', 2)) await serveIntent(upgraded, intent)
  await end(earlier)
  for (const intent of intentsOf('alone', 2)) await serveIntent(upgraded, intent)

  const hashes = await included(infoOf(upgraded), sent)
  const inclusions = await database.selectFrom('inclusions').select('user_op_hash').execute()
  expect(inclusions.map((row) => row.user_op_hash).sort()).toEqual([...hashes].sort())
  const { rows } = await sql<{ tries: number }>`select distinct tries from operations`.execute(
    database,
  )
  expect(rows).toEqual([{ tries: 1 }])
  await end(upgraded)

  const args = [...flags(), '--log-level', 'silent']
  const { code, stdout, stderr } = await runCli(args, environment())
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' })
  expect(expectOneSentence(stderr)).toBe(
    `The database was changed by a newer version of Purser, up to ${STEP}; this one (${buildVersion}) ends at ${newestMigration}. Start the newer version, or restore a backup that was made before it.`,
  )
})
