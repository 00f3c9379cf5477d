import { sql } from 'kysely'
import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { expectBalancedBooks, withBooks } from '../support/database/books.js'
import { result } from '../support/http/jsonRpc.js'
import { type Fleet, startFleet } from '../support/service/fleet.js'
import { included, intentsOf, prepare, send } from '../support/service/intents.js'
import { until } from '../support/until.js'

let fleet: Fleet
const acknowledged: `0x${string}`[] = []
beforeAll(async () => {
  fleet = await startFleet(1_010)
})
afterAll(() => fleet?.stop())

/** The transactions that an executor has on the chain, and those that the outbox knows to have ended there. */
async function transactionsOf(key: `0x${string}`) {
  const { address } = privateKeyToAccount(key)
  const sent = await result(fleet.info().rpcUrl, 'eth_getTransactionCount', [address, 'latest'])
  const known = await withBooks(fleet.folder, async (database) => {
    const { rows } = await sql<{ readonly state: string; readonly number: bigint }>`
      select state, count(distinct nonce) as number from bundles
      where executor = ${address.toLowerCase()} group by state`.execute(database)
    return Object.fromEntries(rows.map(({ state, number }) => [state, Number(number)]))
  })
  return { sent: Number(sent), known }
}

/** Sends an operation of each payer, and remembers what was promised. */
async function sendBoth(name: string) {
  const info = fleet.info()
  const intents = intentsOf(name, 2)
  for (const intent of intents) await prepare(info, intent)
  await Promise.all(intents.map((intent) => send(info, intent)))
  return intents
}

test.each([
  'bundle:simulated',
  // Within a transaction: the database ends a session that stands still, and what it locked is free.
  'bundle:claimed',
  'inclusion:settled',
  'bundle:committed',
  'broadcast:before',
  'broadcast:after',
  'receipts:read',
  'inclusion:committed',
] as const)(
  'a bundler that stands still at %s and goes on after a takeover does nothing twice',
  async (point) => {
    const [first, second] = fleet.replicas.filter(({ role }) => role === 'bundler')
    for (const each of [first, second]) await each?.end('SIGTERM')
    fleet.environment.PURSER_FAULT = `stop ${point}`
    await first?.start()
    delete fleet.environment.PURSER_FAULT
    await until(async () => (await fleet.leaders())[0] === first)

    const intents = await sendBoth(point)
    await until(async () => first?.isPaused())
    await fleet.expireLeases()
    await second?.start()
    acknowledged.push(...(await included(fleet.info(), intents)))

    first?.resume()
    const later = await sendBoth(`${point}, later`)
    acknowledged.push(...(await included(fleet.info(), later)))
    await until(async () => {
      const leaders = await fleet.leaders()
      return leaders.length === 1 && leaders[0] === second
    })
    await until(async () => first?.output().includes('bundling taken over by another process'))
    await fleet.quiet()
    await expectBalancedBooks(fleet.folder, fleet.info(), acknowledged, fleet.deposit)
    for (const key of [devKey(1), devKey(2)]) {
      const { sent, known } = await transactionsOf(key)
      expect({ included: 0, ...known }).toEqual({ included: sent })
    }
  },
)
