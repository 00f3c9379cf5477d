import { sql } from 'kysely'
import { expect, test } from 'vitest'
import type { Transaction } from '../../src/db/database.js'
import { inTransaction } from '../../src/db/inTransaction.js'
import { pipelined } from '../../src/db/pipelined.js'
import { useDatabase } from '../support/database/database.js'

const shared = useDatabase()

async function transactionId(trx: Transaction): Promise<string> {
  const { rows } = await sql<{ id: string }>`select pg_current_xact_id()::text as id`.execute(trx)
  return rows[0]!.id
}

test('what runs in a transaction gets that one, and else one of its own', async () => {
  const ids = await inTransaction(shared().database, async (trx) => [
    await transactionId(trx),
    await inTransaction(trx, transactionId),
  ])
  expect(ids[1]).toBe(ids[0])
  expect(await inTransaction(shared().database, transactionId)).not.toBe(ids[0])
})

test('the compiler takes no plain database where a transaction is needed', () => {
  const refused = () => {
    // @ts-expect-error a database outside of a transaction
    transactionId(shared().database)
    // @ts-expect-error the same for statements that are sent together
    pipelined(shared().database, async () => {})
  }
  expect(refused).toBeDefined()
})
