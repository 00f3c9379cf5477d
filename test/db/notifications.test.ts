import { once } from 'node:events'
import { mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { listen } from '../../src/db/notifications.js'
import { announceOperations, OPERATIONS_CHANNEL } from '../../src/mempool/pool/operations.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'
import { until } from '../support/until.js'

const shared = useDatabase()
let heard: string[]
let listener: Awaited<ReturnType<typeof listen>>
beforeEach(async () => {
  heard = []
  listener = await listen(shared().connection, OPERATIONS_CHANNEL, silent, (payload) =>
    heard.push(payload),
  )
})
afterEach(() => listener.close())

/** Process ids of the sessions that listen: those that have said so and were answered. */
async function sessions(): Promise<number[]> {
  const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity
    where query like 'listen %' and state = 'idle' and datname = current_database()`.execute(
    shared().database,
  )
  return rows.map(({ pid }) => pid)
}

test('hears what a transaction announces when it commits, and nothing of one that does not', async () => {
  const { database } = shared()
  const undone = database.transaction().execute(async (trx) => {
    await announceOperations(trx, 1)
    throw new Error('undone')
  })
  await expect(undone).rejects.toThrow('undone')
  await database.transaction().execute((trx) => announceOperations(trx, 31_337))
  await until(async () => heard.length > 0)
  expect(heard).toEqual(['31337'])
})

test('hears again after its session broke, with one session', async () => {
  const { database } = shared()
  for (let round = 0; round < 3; round++) {
    const [pid] = await sessions()
    await sql`select pg_terminate_backend(${pid}::int, 5000)`.execute(database)
    await until(async () => (await sessions()).length > 0)
  }
  expect(await sessions()).toHaveLength(1)
  await announceOperations(database, 7)
  await until(async () => heard.length > 0)
  expect(heard).toEqual(['7'])
})

test('while nobody answers tries in one place only', async () => {
  const { connection, database } = shared()
  if (!('socketFolder' in connection)) throw new Error('not the embedded database')
  const folder = mkdtempSync(join(tmpdir(), 'purser-socket-'))
  const sockets = join(folder, 'sockets')
  const said: string[] = []
  const note = (_: object, line: string) => said.push(line)
  const logger = { warn: note, info: note } as never
  symlinkSync(connection.socketFolder, sockets)
  await listener.close()
  listener = await listen(
    { ...connection, socketFolder: sockets },
    OPERATIONS_CHANNEL,
    logger,
    (text) => heard.push(text),
  )
  try {
    const [pid] = await sessions()
    rmSync(sockets)
    mkdirSync(sockets)
    let attempts = 0
    const refusing = createServer((socket) => {
      attempts++
      socket.destroy()
    }).listen(join(sockets, '.s.PGSQL.5432'))
    await once(refusing, 'listening')
    await sql`select pg_terminate_backend(${pid}::int, 5000)`.execute(database)
    await until(async () => attempts > 4)
    refusing.close()
    await once(refusing, 'close')
    rmSync(sockets, { recursive: true })
    symlinkSync(connection.socketFolder, sockets)
    await until(async () => (await sessions()).length > 0)
    expect(await sessions()).toHaveLength(1)
    await until(async () => said.length > 1)
    expect(said).toEqual(['listener lost', 'listener connected again'])
    await announceOperations(database, 7)
    await until(async () => heard.length > 0)
    expect(heard).toEqual(['7'])
  } finally {
    rmSync(folder, { recursive: true })
  }
})
