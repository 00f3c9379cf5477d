import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import { type Address, type Hex, zeroAddress } from 'viem'
import { beforeEach, describe, expect, test } from 'vitest'
import type { BudgetUnit } from '../../src/base/vocabulary.js'
import { forgetChain } from '../../src/bundler/outbox/chainBlocks.js'
import { settleLedger, undoLedger } from '../../src/paymaster/ledger/ledger.js'
import { hasOpenReservations } from '../../src/paymaster/ledger/reservations.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { everyExpired } from '../support/database/everyExpired.js'
import { type Answered, askLedger, budgetClaim } from '../support/database/ledger.js'
import { alice, bob, entryPoint, inclusionOf, tank } from '../support/operations/inclusionOf.js'

const testDatabase = useDatabase()
function database() {
  return testDatabase().database
}

/** Of no operation that we have seen. */
const unknownHash: Hex = `0x${'99'.repeat(32)}`
const now = 1_000_000
const until = BigInt(now + 300)
let appId = ''
let policyId = ''
let chainId = 2_000_000

beforeEach(async () => {
  appId = await createApp(database())
  policyId = randomUUID()
  chainId++
})

function slot(nonce = 0n, sender = alice) {
  return {
    chainId,
    entryPoint,
    paymaster: tank,
    appId,
    sender,
    nonce,
  }
}

type Given = { nonce?: bigint; amount?: bigint; policy?: string; unit?: BudgetUnit; price?: bigint }

/** Reserves 100 (or `amount`) of a budget that has room for all. */
function sponsor(given: Given = {}): Promise<Answered> {
  const { nonce, amount = 100n, policy = policyId, unit = 'wei', price } = given
  const claim = budgetClaim({ policyId: policy, limit: 10n ** 40n, amount, unit, price })
  return askLedger(database(), {
    slot: slot(nonce),
    maxCost: amount,
    validUntil: until,
    head: { deposit: 10n ** 40n, blockNumber: 1n, timestamp: now },
    claim: { ofApp: [{ policyId: policy, claims: [claim] }] },
  })
}

type Event = {
  hash: Hex
  cost: bigint
  block: bigint
  nonce?: bigint
  paymaster?: Address
}

function include(...events: Event[]) {
  return database()
    .transaction()
    .execute((trx) => {
      const included = events.map(({ nonce, ...event }) =>
        inclusionOf({ slot: slot(nonce), ...event }),
      )
      return settleLedger(trx, chainId, included, undefined)
    })
}

/** The index reaches a block; what is 10 blocks older is final. */
function reach(number: bigint, timestamp = now) {
  return database()
    .transaction()
    .execute(async (trx) => {
      const final = number - 10n
      const looked = await everyExpired(trx, chainId, final)
      await settleLedger(trx, chainId, [], { number, timestamp, final, looked })
    })
}

function undo(fork: bigint) {
  return database()
    .transaction()
    .execute((trx) => undoLedger(trx, chainId, fork))
}

async function books(policy = policyId) {
  const row = await database()
    .selectFrom('budget_counters')
    .select(['used', 'settled'])
    .where('policy_id', '=', policy)
    .executeTakeFirstOrThrow()
  return [row.used, row.settled]
}

async function states() {
  const rows = await database()
    .selectFrom('reservations')
    .select(['state', 'actual_cost'])
    .where('chain_id', '=', BigInt(chainId))
    .orderBy('id')
    .execute()
  return rows.map(({ state, actual_cost }) => `${state} ${actual_cost}`)
}

describe('an inclusion', () => {
  test('settles what it cost, and frees the rest once its block is final', async () => {
    const { hash } = await sponsor()
    await include({ hash, cost: 60n, block: 5n })
    expect([await states(), await books()]).toEqual([['included 60'], [100n, 60n]])
    await reach(14n)
    expect(await books()).toEqual([100n, 60n])
    await reach(15n)
    expect([await states(), await books()]).toEqual([['settled 60'], [60n, 60n]])
  })

  test('recorded twice changes nothing, and one in another block counts as that', async () => {
    const { hash } = await sponsor()
    await include({ hash, cost: 60n, block: 5n })
    await include({ hash, cost: 60n, block: 5n })
    expect(await books()).toEqual([100n, 60n])
    await include({ hash, cost: 70n, block: 6n })
    expect(await books()).toEqual([100n, 70n])
    await reach(16n)
    await include({ hash, cost: 70n, block: 6n })
    expect([await states(), await books()]).toEqual([['settled 70'], [70n, 70n]])
  })

  test('that a reorg takes back is open again, and settles anew', async () => {
    const { hash } = await sponsor()
    await include({ hash, cost: 60n, block: 5n })
    await undo(4n)
    expect([await states(), await books()]).toEqual([['open 0'], [100n, 0n]])
    await include({ hash, cost: 100n, block: 7n })
    await reach(17n)
    expect(await books()).toEqual([100n, 100n])
  })

  test('below the fork stays', async () => {
    const { hash } = await sponsor()
    await include({ hash, cost: 60n, block: 5n })
    await undo(5n)
    expect(await books()).toEqual([100n, 60n])
  })

  test('of a replaced sponsorship charges the policy of that one only', async () => {
    const second = randomUUID()
    const first = await sponsor({ amount: 100n })
    await sponsor({ amount: 80n, policy: second })
    await include({ hash: first.hash, cost: 60n, block: 5n })
    expect([await books(), await books(second)]).toEqual([
      [100n, 60n],
      [80n, 0n],
    ])
    await reach(15n)
    expect([await books(), await books(second)]).toEqual([
      [60n, 60n],
      [0n, 0n],
    ])
  })

  test('of the cheaper of two sponsorships of one nonce is settled once', async () => {
    const cheap = await sponsor({ amount: 50n })
    await sponsor({ amount: 100n })
    await include({ hash: cheap.hash, cost: 40n, block: 5n })
    await reach(15n)
    expect(await books()).toEqual([40n, 40n])
  })

  test('of an operation that the reserved tank did not pay frees the nonce at no cost', async () => {
    await sponsor()
    await include({ hash: unknownHash, cost: 60n, block: 5n, paymaster: zeroAddress })
    expect([await states(), await books()]).toEqual([['included 0'], [100n, 0n]])
    await reach(15n)
    expect(await books()).toEqual([0n, 0n])
  })

  test('that the reserved tank paid under an unknown hash is charged to all who sponsored it', async () => {
    await sponsor()
    const otherPolicy = randomUUID()
    await sponsor({ policy: otherPolicy, unit: 'count', amount: 1n })
    await include({ hash: unknownHash, cost: 60n, block: 5n })
    expect([await states(), await books()]).toEqual([['included 60'], [100n, 60n]])
    expect(await books(otherPolicy)).toEqual([1n, 1n])
    await reach(15n)
    expect(await books()).toEqual([60n, 60n])
  })

  test('found only after its reservation was released is charged all the same', async () => {
    const { hash } = await sponsor()
    await reach(20n, now + 301)
    await reach(30n, now + 400)
    expect([await states(), await books()]).toEqual([['released 0'], [0n, 0n]])
    await include({ hash, cost: 60n, block: 15n })
    expect([await states(), await books()]).toEqual([['settled 60'], [60n, 60n]])
  })

  test('counts one operation, and USD at the price of its sponsorship, rounded up', async () => {
    const { hash } = await sponsor({ unit: 'count', amount: 1n })
    await include({ hash, cost: 60n, block: 5n })
    expect(await books()).toEqual([1n, 1n])

    policyId = randomUUID()
    const price = 3_000_000_000n
    const dollars = await sponsor({ nonce: 1n, unit: 'usd', amount: 1_000n, price })
    await include({ hash: dollars.hash, nonce: 1n, cost: 10n ** 9n + 1n, block: 5n })
    expect(await books()).toEqual([1_000n, 4n])
  })

  test('of many senders and policies in one step keeps each apart', async () => {
    const policies = [randomUUID(), randomUUID(), randomUUID()]
    const answers = await Promise.all(
      Array.from({ length: 12 }, (_, index) =>
        sponsor({ nonce: BigInt(index), policy: policies[index % 3]! }),
      ),
    )
    await include(
      ...answers.map(({ hash }, index) => ({
        hash,
        nonce: BigInt(index),
        cost: BigInt(index),
        block: 5n,
      })),
    )
    const sums = await Promise.all(policies.map((policy) => books(policy)))
    expect(sums).toEqual([
      [400n, 18n],
      [400n, 22n],
      [400n, 26n],
    ])
  })
})

describe('time', () => {
  test('releases only when a block is later than validUntil, and then is final', async () => {
    await sponsor()
    await reach(5n, now + 300)
    expect(await states()).toEqual(['open 0'])
    await reach(6n, now + 301)
    expect([await states(), await books()]).toEqual([['expired 0'], [100n, 0n]])
    const { rows } = await sql`select ${hasOpenReservations(chainId)} as open`.execute(database())
    expect(rows).toEqual([{ open: false }])
    await reach(15n, now + 302)
    expect(await books()).toEqual([100n, 0n])
    await reach(16n, now + 303)
    expect([await states(), await books()]).toEqual([['released 0'], [0n, 0n]])
  })

  test('that a reorg turns back opens again', async () => {
    await sponsor()
    await reach(6n, now + 301)
    await undo(5n)
    expect(await states()).toEqual(['open 0'])
  })

  test('of a further sponsorship of the same nonce counts, and holds no more', async () => {
    await sponsor()
    await reach(6n, now + 301)
    await sponsor({ amount: 90n })
    expect([await states(), await books()]).toEqual([['open 0'], [100n, 0n]])
  })
})

test('a chain that was reset brings all that was not final back as open', async () => {
  const { hash } = await sponsor()
  await include({ hash, cost: 60n, block: 5n })
  await database()
    .transaction()
    .execute((trx) => forgetChain(trx, chainId))
  expect([await states(), await books()]).toEqual([['open 0'], [100n, 0n]])
})

test('a policy that was deleted meanwhile has no counters, and nothing fails', async () => {
  const { hash } = await sponsor()
  await database().deleteFrom('budget_counters').where('policy_id', '=', policyId).execute()
  await include({ hash, cost: 60n, block: 5n })
  await reach(15n)
  expect(await states()).toEqual(['settled 60'])
})

test('two apps that sponsor the same operation are charged by whose it was', async () => {
  const first = await sponsor()
  const other = { app: await createApp(database()), policy: randomUUID() }
  const claim = budgetClaim({ policyId: other.policy, limit: 100n, amount: 100n })
  await askLedger(database(), {
    slot: { ...slot(), appId: other.app, paymaster: bob },
    maxCost: 100n,
    validUntil: until,
    head: { deposit: 100n, blockNumber: 1n, timestamp: now },
    claim: { ofApp: [{ policyId: other.policy, claims: [claim] }] },
  })
  await include({ hash: first.hash, cost: 60n, block: 5n })
  await reach(15n)
  expect([await books(), await books(other.policy)]).toEqual([
    [60n, 60n],
    [0n, 0n],
  ])
})

test('of two apps that reserved one nonce of a shared tank, only the app of the included operation is charged', async () => {
  const first = await sponsor()
  const other = { app: await createApp(database()), policy: randomUUID() }
  const claim = budgetClaim({ policyId: other.policy, limit: 100n, amount: 100n })
  await askLedger(database(), {
    slot: { ...slot(), appId: other.app },
    maxCost: 100n,
    validUntil: until,
    head: { deposit: 10n ** 40n, blockNumber: 1n, timestamp: now },
    claim: { ofApp: [{ policyId: other.policy, claims: [claim] }] },
  })
  await include({ hash: first.hash, cost: 60n, block: 5n })
  await reach(15n)
  expect([await books(), await books(other.policy)]).toEqual([
    [60n, 60n],
    [0n, 0n],
  ])
})

test.each([
  ['the same hash', 'known'],
  ['an unknown hash', 'unknown'],
] as const)(
  'of two apps that sponsored one operation of a shared tank, one is charged under %s',
  async (_, kind) => {
    const first = await sponsor()
    const other = { app: await createApp(database()), policy: randomUUID() }
    const claim = budgetClaim({ policyId: other.policy, limit: 100n, amount: 100n })
    await askLedger(database(), {
      slot: { ...slot(), appId: other.app },
      maxCost: 100n,
      validUntil: until,
      head: { deposit: 10n ** 40n, blockNumber: 1n, timestamp: now },
      claim: { ofApp: [{ policyId: other.policy, claims: [claim] }] },
      hash: first.hash,
    })
    const hash = kind === 'known' ? first.hash : unknownHash
    await include({ hash, cost: 60n, block: 5n })
    await include({ hash, cost: 60n, block: 5n })
    expect(await states()).toEqual(['included 60', 'included 0'])
    await reach(15n)
    await include({ hash, cost: 60n, block: 5n })
    expect(await states()).toEqual(['settled 60', 'settled 0'])
    expect([await books(), await books(other.policy)]).toEqual([
      [60n, 60n],
      [0n, 0n],
    ])
  },
)
