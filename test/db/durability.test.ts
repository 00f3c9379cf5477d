import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { openDatabase } from '../../src/db/database.js'
import { durabilityRisks, durabilitySettings } from '../../src/db/embedded/durability.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'

const shared = useDatabase()

test('our own server and sessions have nothing to warn of', async () => {
  const settings = await durabilitySettings(shared().database)
  expect(settings).toEqual({ fsync: 'on', full_page_writes: 'on', synchronous_commit: 'on' })
  expect(durabilityRisks(settings)).toEqual([])
})

test('a commit waits for the disk even where the server says otherwise', async () => {
  const { database, connection } = shared()
  const name = sql.id((connection as { database: string }).database)
  for (const [given, ours] of [
    ['off', 'on'],
    ['local', 'local'],
  ] as const) {
    await sql`alter database ${name} set synchronous_commit = ${sql.lit(given)}`.execute(database)
    const fresh = openDatabase(connection, silent, { size: 1 })
    expect((await durabilitySettings(fresh)).synchronous_commit).toBe(ours)
    await fresh.destroy()
  }
})

test('each setting that can lose something is named', () => {
  const safe = { fsync: 'on', full_page_writes: 'on', synchronous_commit: 'remote_apply' }
  expect(durabilityRisks(safe)).toEqual([])
  for (const setting of ['fsync', 'full_page_writes', 'synchronous_commit'])
    expect(durabilityRisks({ ...safe, [setting]: 'off' })).toEqual([
      expect.stringContaining(`${setting} is off`),
    ])
})
