import { sql } from 'kysely'
import type { Hex } from 'viem'
import { expect, test } from 'vitest'
import type { Transaction } from '../../src/db/database.js'
import { holdCheapest } from '../../src/mempool/pool/admissionFacts.js'
import { dropExpired } from '../../src/mempool/pool/operations.js'
import { pooledOperations } from '../../src/mempool/pool/pooledOperations.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'

const database = useDatabase()

const chainId = 31_337
const entryPoints = [`0x${'a'.repeat(40)}`, `0x${'b'.repeat(40)}`] as const
/** The default limit of a pool is twice as many. */
const POOLED = 50_000
const WANTED = 40
/** Rows that one of these questions may read: each needs some of a few indexes. */
const MOST_READ = 15 * WANTED

/** Adds pooled operations of as many senders: number n pays n wei more than number 0, and a tip of its own. */
async function fill(): Promise<void> {
  const db = database().database
  await sql`insert into operations (chain_id, hash, entry_point, app_id, sender, nonce, max_fee_per_gas,
      max_priority_fee_per_gas, prefund, assured_price, valid_until, operation, state)
    select ${chainId}, '0x' || lpad(to_hex(n), 64, '0'), (${entryPoints}::text[])[1 + n % 2],
      ${await createApp(db)}, '0x' || lpad(to_hex(n), 40, '0'), 0, 1000 + n, 1 + n * 7919 % 1000, 1,
      1000 + n, case when n % 2 = 0 then 4000000000 else 0 end,
      jsonb_build_object('sender', '0x' || lpad(to_hex(n), 40, '0')), 'pooled'
    from generate_series(0, ${POOLED}::int - 1) n`.execute(db)
}

/** What the question answers, and the rows of operations that were read for it. */
async function rowsRead<Answer>(
  ask: (trx: Transaction) => Promise<Answer>,
): Promise<{ readonly answer: Answer; readonly read: number }> {
  return database()
    .database.transaction()
    .execute(async (trx) => {
      const count = async () => {
        const { rows } = await sql<{ read: bigint }>`
          select sum(seq_tup_read + idx_tup_fetch)::bigint as read
          from pg_stat_xact_user_tables where relname in ('operations', 'live_operations')`.execute(
          trx,
        )
        return Number(rows[0]!.read)
      }
      const before = await count()
      const answer = await ask(trx)
      return { answer, read: (await count()) - before }
    })
}

/** Asks often enough that the server keeps its plan. */
async function askRepeatedly(): Promise<void> {
  for (let time = 0; time < 8; time++) {
    const cheapest = await rowsRead((trx) => holdCheapest(trx, chainId, WANTED))
    const ranked = await rowsRead((trx) =>
      pooledOperations(trx, {
        chainId,
        entryPoint: entryPoints[0],
        baseFee: 500n,
        leastTip: 1n,
        without: new Set(),
        inFlight: [],
        limit: WANTED,
      }),
    )
    const last = { number: 5n, timestamp: 1_000 }
    const expired = await rowsRead((trx) => dropExpired(trx, chainId, last, 900))
    expect([ranked.answer.length, expired.answer]).toEqual([WANTED, []])
    // The two cheapest by price, of the two EntryPoints.
    const numbers = cheapest.answer.map(({ hash }) => Number(hash))
    expect(numbers).toEqual(expect.arrayContaining([0, 1]))
    const reads = [cheapest, ranked, expired].map(({ read }) => read)
    expect(Math.max(...reads)).toBeLessThan(MOST_READ)
  }
}

test('what is asked of a full pool reads few of its operations, with statistics of the table and without', async () => {
  const db = database().database
  for (const table of ['operations', 'live_operations'])
    await sql`alter table ${sql.table(table)} set (autovacuum_enabled = off)`.execute(db)
  await fill()
  await askRepeatedly()
  await sql`analyze operations, live_operations`.execute(db)
  await askRepeatedly()
})

/** Operations of one sender that an unstaked account may have. */
const QUEUE = 16
const SENDERS = 300

test('operations of senders in flight are passed over without a look at what else their senders have', async () => {
  const db = database().database
  await sql`truncate operations, live_operations cascade`.execute(db)
  await sql`insert into operations (chain_id, hash, entry_point, app_id, sender, nonce, max_fee_per_gas,
      max_priority_fee_per_gas, prefund, assured_price, valid_until, operation, state)
    select ${chainId}, '0x' || lpad(to_hex(n), 64, '0'), ${entryPoints[0]}, ${await createApp(db)},
      '0x' || lpad(to_hex(n / ${QUEUE}::int), 40, '0'), n % ${QUEUE}::int * 2::numeric ^ 64, 1000, 10, 1,
      1000, 0, '{}', 'pooled'
    from generate_series(0, ${SENDERS * QUEUE}::int - 1) n`.execute(db)
  await sql`analyze operations, live_operations`.execute(db)
  const busy = SENDERS - WANTED
  const inFlight = Array.from(
    { length: busy },
    (_, n): Hex => `0x${n.toString(16).padStart(40, '0')}`,
  )
  const { answer, read } = await rowsRead((trx) =>
    pooledOperations(trx, {
      ...{ chainId, entryPoint: entryPoints[0], baseFee: 1n, leastTip: 1n, without: new Set() },
      inFlight,
      limit: 2 * WANTED * QUEUE,
    }),
  )
  expect(answer).toHaveLength(WANTED * QUEUE)
  // Each once to rank it, and those that are found for a lower nonce of their key and for their documents.
  expect(read).toBeLessThanOrEqual(SENDERS * QUEUE + 2 * WANTED * QUEUE)
})
