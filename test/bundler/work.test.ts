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
    // On a busy machine fewer meet in a group: 0.61 to 0.8.
    statements: 0.95,
    planned: 0.1,
    commits: 0.55,
    wal: 4_800,
    indexEntries: 11.5,
    runs: 1.05,
  })
})

test('a lone operation costs little, and no statement of it is planned anew', async () => {
  await wave(1)
  const count = await countWork(database)
  await wave(1)
  expectAtMost(await count(), {
    statements: 31,
    planned: 5,
    // Those that happen to meet share one: at most one a statement.
    commits: 31,
    wal: 10_300,
    indexEntries: 22,
  })
  for (const hash of sent) expect(await world.stateOf(hash)).toBe('included')
})

/** A node of a plan, as `explain` prints it. */
type PlanNode = Readonly<Record<string, unknown>> & { readonly Plans?: readonly PlanNode[] }

/** The reads of tables in a plan, each with all its conditions. */
function readsIn(node: PlanNode): readonly { readonly table: string; readonly where: string }[] {
  const below = (node.Plans ?? []).flatMap(readsIn)
  const table = node['Relation Name']
  if (typeof table !== 'string' || node['Node Type'] === 'ModifyTable') return below
  const conditionsOf = (part: PlanNode): readonly unknown[] => [
    ...Object.entries(part).flatMap(([name, value]) =>
      /(Cond|Filter)$/.test(name) ? [value] : [],
    ),
    ...(part.Plans ?? []).flatMap(conditionsOf),
  ]
  return [...below, { table, where: conditionsOf(node).join(' ') }]
}

/** A condition by which all rows of a read are of one chain: its own, or that of one bundle or reservation. */
const oneChain = /\(chain_id = |\((bundle_id|id) = (\$|ANY|\(|\w+\.(bundle_id|id)\))/

/** A statement as `pg_stat_statements` keeps it, in which words became parameters where none may stand. */
function runnable(query: string): string {
  return query
    .replace(/\binterval (\$\d+)/g, '$1::interval')
    .replace(/\bextract\(\$\d+/g, 'extract(epoch')
}

test('no statement on the way of an operation touches two chains', async () => {
  const { rows: tables } = await sql<{ name: string }>`select table_name as name
    from information_schema.columns where column_name = 'chain_id' and is_nullable = 'NO'`.execute(
    database,
  )
  const ofChains = new Set(tables.map(({ name }) => name))
  // Those of the lone operation before.
  const { rows: statements } = await sql<{ query: string }>`select query from pg_stat_statements
    where query !~ 'pg_stat|pg_current_wal|pg_sleep|pg_get_wal'`.execute(database)
  const read = new Set<string>()
  const wide: string[] = []
  for (const { query } of statements) {
    const { rows } = await sql<{ 'QUERY PLAN': readonly [{ readonly Plan: PlanNode }] }>`${sql.raw(
      `explain (generic_plan, format json) ${runnable(query)}`,
    )}`.execute(database)
    for (const { table, where } of readsIn(rows[0]!['QUERY PLAN'][0].Plan)) {
      if (!ofChains.has(table)) continue
      read.add(table)
      if (!oneChain.test(where)) wide.push(`${table} where ${where}: ${query}`)
    }
  }
  expect(wide).toEqual([])
  for (const table of ['operations', 'bundles', 'inclusions', 'reservations', 'pool_bounds'])
    expect([...read]).toContain(table)
})

test('a head at which nothing is to be done takes few statements', async () => {
  await world.settle()
  await world.mine()
  const count = await countWork(database)
  await world.round()
  expectAtMost(await count(), {
    // Four, and what timers may ask meanwhile.
    statements: 10,
    planned: 4,
    // Reads of a connection's own count too.
    commits: 12,
    wal: 1_000,
    indexEntries: 3,
  })
})
