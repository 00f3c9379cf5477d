import fc from 'fast-check'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'

const database = useDatabase()
const chainId = 4_337
const HASHES = 4
const states = ['pooled', 'bundled', 'included', 'dropped', 'replaced'] as const

/** A change of one operation, whichever statement makes it. */
const change = fc.record({
  hash: fc.integer({ min: 0, max: HASHES - 1 }),
  /** Null deletes it. */
  state: fc.option(fc.constantFrom(...states), { freq: 8 }),
  attempts: fc.nat(3),
})

/** The columns of the pool, from both tables. */
async function poolOf(table: 'live_operations' | 'operations') {
  const { rows } = await sql`select chain_id, entry_point, sender, nonce, hash, app_id, factory,
      paymaster, ${sql.raw(table === 'operations' ? "operation ? 'authorization'" : 'delegates')} as delegates,
      max_fee_per_gas, max_priority_fee_per_gas, assured_price, prefund, valid_until, valid_until_block,
      received_at, attempts, state
    from ${sql.table(table)} where chain_id = ${chainId} and state in ('pooled', 'bundled')
    order by hash`.execute(database().database)
  return rows
}

test('the pool holds the pooled and bundled operations after any changes, each as its record is', async () => {
  const db = database().database
  const app = await createApp(db)
  const run = async (
    changes: readonly (typeof change extends fc.Arbitrary<infer T> ? T : never)[],
  ) => {
    await sql`delete from operations where chain_id = ${chainId}`.execute(db)
    for (const { hash, state, attempts } of changes) {
      if (state === null)
        await sql`delete from operations where chain_id = ${chainId} and hash = ${String(hash)}`.execute(
          db,
        )
      else
        await sql`insert into operations as o (chain_id, hash, entry_point, app_id, sender, nonce, factory,
            max_fee_per_gas, max_priority_fee_per_gas, prefund, assured_price, valid_until, operation,
            state, attempts)
          values (${chainId}, ${String(hash)}, '0xe', ${app}, ${`0x${hash}`}, ${hash}, ${hash === 1 ? '0xf' : null},
            ${100 + hash}, ${attempts}, 7, ${90 + attempts}, ${attempts},
            ${hash === 2 ? '{"authorization": {}}' : '{}'}::jsonb, ${state}, ${attempts})
          on conflict (chain_id, hash) do update set state = excluded.state,
            attempts = excluded.attempts, valid_until = excluded.valid_until,
            received_at = case when o.state in ('dropped', 'replaced') then now() else o.received_at end`.execute(
          db,
        )
      expect(await poolOf('live_operations')).toEqual(await poolOf('operations'))
    }
  }
  await fc.assert(fc.asyncProperty(fc.array(change, { minLength: 1, maxLength: 30 }), run), {
    numRuns: 30,
  })
})

test('one slot holds one operation: a second one of the same account, nonce and EntryPoint is refused', async () => {
  const db = database().database
  const app = await createApp(db)
  const put = (hash: string, state: string) =>
    sql`insert into operations (chain_id, hash, entry_point, app_id, sender, nonce, max_fee_per_gas,
        max_priority_fee_per_gas, prefund, assured_price, valid_until, operation, state)
      values (${chainId + 1}, ${hash}, '0xe', ${app}, '0x1', 0, 1, 1, 1, 1, 0, '{}', ${state})`.execute(
      db,
    )
  await put('0x1', 'pooled')
  await put('0x2', 'included')
  await expect(put('0x3', 'pooled')).rejects.toThrow('live_operations_pkey')
  await sql`update operations set state = 'replaced' where chain_id = ${chainId + 1} and hash = '0x1'`.execute(
    db,
  )
  await put('0x3', 'pooled')
})
