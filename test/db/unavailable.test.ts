import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { UnavailableError } from '../../src/base/errors/requestErrors.js'
import { type Database, openDatabase } from '../../src/db/database.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'

const shared = useDatabase()

function reasonOf(run: Promise<unknown>): Promise<unknown> {
  return run.then(
    () => undefined,
    (error) => error,
  )
}

/** Ends the session of `own` from another one. */
async function terminate(own: Database): Promise<void> {
  const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(own)
  await sql`select pg_terminate_backend(${rows[0]!.pid}::int, 5000)`.execute(shared().database)
}

test('a database that nobody serves is unavailable, and the message shows no path', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'purser-nobody-'))
  const nobody = openDatabase({ socketFolder: folder, user: 'a', database: 'b' }, silent)
  try {
    const error = await reasonOf(sql`select 1`.execute(nobody))
    expect(error).toBeInstanceOf(UnavailableError)
    expect(error).toMatchObject({ code: -32005, status: 503 })
    expect((error as Error).message).not.toContain(folder)
  } finally {
    await nobody.destroy()
    rmSync(folder, { recursive: true })
  }
})

test('a session that ends inside a transaction makes it unavailable', async () => {
  const error = await reasonOf(
    shared()
      .database.transaction()
      .execute(async (trx) => {
        await terminate(trx)
        await sql`select 1`.execute(trx)
      }),
  )
  expect(error).toBeInstanceOf(UnavailableError)
})

test('a statement that takes too long makes it unavailable', async () => {
  const error = await reasonOf(
    shared()
      .database.transaction()
      .execute(async (trx) => {
        await sql`set local statement_timeout = 10`.execute(trx)
        await sql`select pg_sleep(30)`.execute(trx)
      }),
  )
  expect(error).toBeInstanceOf(UnavailableError)
})

test.each([
  ['a wrong statement', sql`select from nowhere`],
  ['a value that cannot be decoded', sql`select 1.5::numeric`],
  ['a broken constraint', sql`insert into keys (name) values ('x')`],
])('%s is our own fault', async (_name, statement) => {
  const error = await reasonOf(statement.execute(shared().database))
  expect(error).toBeInstanceOf(Error)
  expect(error).not.toBeInstanceOf(UnavailableError)
})
