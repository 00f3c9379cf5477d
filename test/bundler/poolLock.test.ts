import { sql } from 'kysely'
import { type Hex, parseEther } from 'viem'
import { beforeAll, expect, test } from 'vitest'
import { findInclusion } from '../../src/bundler/outbox/inclusions.js'
import { followChain } from '../../src/bundler/send/followChain.js'
import { searchInclusion } from '../../src/bundler/settle/readEvents.js'
import { settleFound } from '../../src/bundler/settle/settleReceipts.js'
import { lockPool } from '../../src/mempool/pool/bounds.js'
import { recordStatements } from '../support/database/recordStatements.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { useWorld } from '../support/world.js'

/*
 * All admissions of a chain wait for each other, and for all others that lock its pool: on a busy machine a statement takes a
 * second, so that many of them under the lock are a time-out for everybody.
 */

const chain = useWorld()

beforeAll(async () => {
  await chain().makeTank(chain().appId, parseEther('1'))
})

/** Operations of new accounts, which a tank pays. */
async function admitted(count: number): Promise<Hex[]> {
  const hashes: Hex[] = []
  for (let i = 0; i < count; i++) {
    const draft = { ...chain().operation(await chain().createAccount(0n)), ...unsetGas }
    const { operation } = await chain().sponsor(chain().request(chain().appId, draft))
    hashes.push(await chain().admit(operation))
  }
  return hashes
}

async function search(hash: Hex) {
  const found = await searchInclusion(chain().context, hash, (await chain().heads.refresh()).number)
  if (found === undefined) throw new Error(`${hash} is not on the chain`)
  return found
}

async function booked(hash: Hex) {
  const { database, chainId } = chain()
  const reservation = await database
    .selectFrom('reservations')
    .select(['state', 'actual_cost'])
    .where('user_op_hash', '=', hash)
    .executeTakeFirst()
  const inclusion = await findInclusion(database, chainId, hash)
  return { state: await chain().stateOf(hash), reservation, inclusion }
}

/** Makes the books forget an inclusion, as if the index had missed it. */
async function forget(hash: Hex): Promise<void> {
  const { database } = chain()
  await database.deleteFrom('inclusions').where('user_op_hash', '=', hash).execute()
  await database
    .updateTable('operations')
    .set({ state: 'dropped', bundle_id: null })
    .where('hash', '=', hash)
    .execute()
}

test('an inclusion that the index has missed is settled while an admission has the pool', async () => {
  const [hash] = (await admitted(1)) as [Hex]
  await chain().settle()
  const before = await booked(hash)
  const found = await search(hash)
  await forget(hash)
  await chain()
    .database.transaction()
    .execute(async (trx) => {
      await lockPool(trx, chain().chainId)
      // However long a busy machine takes.
      await sql`set local idle_in_transaction_session_timeout = 0`.execute(trx)
      await settleFound(chain().context, found)
    })
  expect(before.inclusion).toBeDefined()
  expect(await booked(hash)).toEqual(before)
})

test('what the index has settled is not settled again', async () => {
  const [hash] = (await admitted(1)) as [Hex]
  await chain().settle()
  const found = await search(hash)
  const { recorded, statements } = recordStatements(chain().database)
  await settleFound({ ...chain().context, database: recorded }, found)
  expect(statements.length).toBeLessThanOrEqual(2)
})

test('a rollback has the pool for the statements that admissions depend on, and no others', async () => {
  const hashes = await admitted(3)
  // The reorg takes none of what they need.
  await chain().mine(10)
  await chain().settle()
  const { recorded, statements } = recordStatements(chain().database)
  await chain().anvil.request('anvil_reorg', [3, []])
  await followChain({ ...chain().context, database: recorded }, await chain().heads.refresh())
  const locks = statements.flatMap((text, at) => (text.includes('pg_advisory') ? at : []))
  const last = statements.findIndex((text) => text.includes('insert into reputations'))
  // The first lock is that of the index.
  expect(locks).toHaveLength(2)
  expect(last, statements.join('\n')).toBeGreaterThan(locks[1]!)
  expect(last - locks[1]!, statements.join('\n')).toBeLessThanOrEqual(4)
  await chain().settle()
  const states = await Promise.all(hashes.map((hash) => chain().stateOf(hash)))
  expect(states).toEqual(['included', 'included', 'included'])
})
