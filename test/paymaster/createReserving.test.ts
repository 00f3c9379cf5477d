import { randomUUID } from 'node:crypto'
import { sql } from 'kysely'
import type { Address } from 'viem'
import { expect, test } from 'vitest'
import { openDatabase } from '../../src/db/database.js'
import { lockedAt } from '../../src/paymaster/ledger/payers.js'
import {
  createReserving,
  type SponsorshipReservation,
} from '../../src/paymaster/sponsor/sponsorContext.js'
import { createApp } from '../support/database/createApp.js'
import { useDatabase } from '../support/database/database.js'
import { budgetClaim, toReservation } from '../support/database/ledger.js'
import { usedOf } from '../support/database/usedOf.js'
import { silent } from '../support/logger.js'
import { alice, bob, entryPoint, tank } from '../support/operations/inclusionOf.js'

const testDatabase = useDatabase()
const now = 1_000_000
const budget = 600n
let chainId = 5_000_000

/** Sponsorships of 1 wei each, of one policy, from a payer with room for so many. */
async function createCase() {
  const { database, connection } = testDatabase()
  const id = ++chainId
  const appId = await createApp(database)
  const policyId = randomUUID()
  const ask = (
    nonce: number,
    paymaster: Address,
    deposit: bigint,
    app = appId,
  ): SponsorshipReservation => ({
    ...toReservation({
      slot: { chainId: id, entryPoint, paymaster, appId: app, sender: alice, nonce: BigInt(nonce) },
      maxCost: 1n,
      validUntil: BigInt(now + 60),
      head: { deposit, blockNumber: 1n, timestamp: now },
      claim: {
        ofAccount: [{ policyId, claims: [budgetClaim({ policyId, limit: budget, amount: 1n })] }],
      },
    }),
    grant: undefined,
  })
  const payer = (paymaster: Address) => ({ chainId: id, entryPoint, paymaster })
  const used = () =>
    usedOf(database, { policyId, budget: 'app wei never', subject: '', oldest: 0n })
  return { ask, payer, used, database, connection, chainId: id }
}

test('1,000 at once, of two payers and two processes, take exactly what there is', async () => {
  const { ask, payer, used, database, connection, chainId: id } = await createCase()
  const second = openDatabase(connection, silent, { size: 4 })
  const processes = [createReserving(database), createReserving(second)]
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, nonce) => {
      const reserve = processes[nonce % 2]!
      // Half of each payer's go to each process; one payer's deposit is less than is asked for.
      return nonce % 4 < 2 ? reserve(ask(nonce, tank, 300n)) : reserve(ask(nonce, bob, 10_000n))
    }),
  )
  await second.destroy()
  const granted = answers.map(({ kind }) => kind === 'granted')
  const ofTank = BigInt(granted.filter((is, nonce) => is && nonce % 4 < 2).length)
  expect(granted.filter(Boolean)).toHaveLength(Number(budget))
  expect(ofTank).toBeLessThanOrEqual(300n)
  expect(await used()).toBe(budget)
  const moment = [{ blockNumber: 1n, timestamp: now }]
  expect(await lockedAt(database, payer(tank), moment)).toEqual([ofTank])
  expect(await lockedAt(database, payer(bob), moment)).toEqual([budget - ofTank])
  const { rows } = await sql<{ decisions: bigint; transactions: bigint }>`
    select count(*) as decisions, count(distinct xmin::text) as transactions
    from decisions where chain_id = ${BigInt(id)}`.execute(database)
  expect(rows[0]?.decisions).toBe(budget)
  expect(rows[0]?.transactions).toBeLessThan(100n)
})

test('one that cannot be stored fails alone', async () => {
  const { ask, used, database } = await createCase()
  const reserve = createReserving(database)
  const settled = await Promise.allSettled([
    ...Array.from({ length: 5 }, (_, nonce) => reserve(ask(nonce, tank, 100n))),
    reserve(ask(5, tank, 100n, randomUUID())),
    ...Array.from({ length: 5 }, (_, nonce) => reserve(ask(6 + nonce, tank, 100n))),
  ])
  expect(settled.map(({ status }) => status === 'rejected')).toEqual(
    Array.from({ length: 11 }, (_, place) => place === 5),
  )
  expect(await used()).toBe(10n)
})
