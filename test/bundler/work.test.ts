import { sql } from 'kysely'
import type { Hex } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/db/database.js'
import { startEmbeddedPostgres } from '../../src/db/embedded/embeddedPostgres.js'
import { migrate } from '../../src/db/migrate.js'
import { countWork, prepareCounting } from '../support/database/databaseWork.js'
import { silent } from '../support/logger.js'
import { makeDataFolder, removeDataFolder } from '../support/service/startPurser.js'
import { openWorld, type World } from '../support/world/openWorld.js'

/** Accounts that send an operation at once, and how often they do. */
const ACCOUNTS = 64
const WAVES = 4

let folder: string
let postgres: Awaited<ReturnType<typeof startEmbeddedPostgres>>
let database: Database
let world: World
const sent: Hex[] = []

beforeAll(async () => {
  folder = makeDataFolder()
  await prepareCounting(folder)
  postgres = await startEmbeddedPostgres(folder, silent)
  database = openDatabase(postgres.connection, silent)
  // It commits and writes when it pleases.
  await sql`alter system set autovacuum = off`.execute(database)
  await sql`select pg_reload_conf()`.execute(database)
  await migrate(database)
  const versions = ['0.7'] as const
  world = await openWorld(database, { versions, definition: { rules: 'full' } })
  // Their first operations create the accounts.
  await wave(ACCOUNTS)
})

afterAll(async () => {
  await world.stop()
  await database.destroy()
  await postgres.stop()
  removeDataFolder(folder)
})

/** One operation each of so many accounts, all at once, until they are included. */
async function wave(count: number): Promise<void> {
  const { account, accountDraft, entryPoint, fund, sign } = world.at('0.7')
  const ops = await Promise.all(
    Array.from({ length: count }, async (_, place) => {
      const seed = `account ${place}`
      const { address } = await account(seed)
      await fund(address)
      const op = await accountDraft(seed)
      const limits = { callGasLimit: 50_000n, verificationGasLimit: 100_000n }
      return sign(op.factory ? op : { ...op, ...limits }, seed)
    }),
  )
  const hashes: Hex[] = await Promise.all(ops.map((op) => world.admit(op, entryPoint)))
  await world.settle()
  sent.push(...hashes)
}

/** The validations that ran in the EVM. */
async function runs(): Promise<number> {
  const lines = (await world.parts.metrics.text()).split('\n')
  return lines
    .filter((line) => line.startsWith('purser_validations_total{'))
    .reduce((sum, line) => sum + Number(line.split(' ').at(-1)), 0)
}

/** Fails where more work was done than `most`; the message has all of it. */
function expectAtMost(work: object, most: Readonly<Record<string, number>>): void {
  const over = Object.entries(work).filter(([name, done]) => done > (most[name] ?? 0))
  expect(over, JSON.stringify(work)).toEqual([])
}

test('operations that come together cost little each, by counts that no busy machine changes', async () => {
  const operations = ACCOUNTS * WAVES
  const count = await countWork(database)
  const runsBefore = await runs()
  for (let i = 0; i < WAVES; i++) await wave(ACCOUNTS)
  const work = { ...(await count()), runs: (await runs()) - runsBefore }
  const each = Object.entries(work).map(([name, done]) => [name, done / operations])
  expectAtMost(Object.fromEntries(each), {
    statements: 1.8,
    planned: 0.6,
    commits: 1.2,
    wal: 6_500,
    indexEntries: 21.5,
    runs: 1.05,
  })
})

test('a lone operation costs little, and no statement of it is planned anew', async () => {
  await wave(1)
  const count = await countWork(database)
  await wave(1)
  expectAtMost(await count(), {
    statements: 66,
    planned: 5,
    commits: 50,
    wal: 14_000,
    indexEntries: 33,
  })
  for (const hash of sent) expect(await world.stateOf(hash)).toBe('included')
})
