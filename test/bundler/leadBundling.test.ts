import { sql } from 'kysely'
import { afterEach, expect, test } from 'vitest'
import { LeaseLostError } from '../../src/base/errors/processErrors.js'
import { noMetrics } from '../../src/base/metrics/metrics.js'
import {
  type BundlingCandidate,
  bundlerLease,
  leadBundling,
} from '../../src/bundler/leadBundling.js'
import { type Database, openDatabase } from '../../src/db/database.js'
import { findLease } from '../../src/db/leases.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'
import { until } from '../support/until.js'

const shared = useDatabase()
let chainId = 0
let candidates: BundlingCandidate[] = []
afterEach(async () => {
  for (const each of candidates) await each.stop()
  candidates = []
})

type Started = { readonly holder: string; readonly database: Database; stopped: boolean }

/** A candidate whose bundlers only note that they run. Its lease lasts an hour, unless said. */
function compete(
  holder: string,
  started: Started[],
  { alone = false, database = shared().database, duration = 3_600_000 } = {},
): BundlingCandidate {
  const candidacy = {
    database,
    chainId,
    holder,
    duration,
    alone,
    metrics: noMetrics,
    logger: silent,
  }
  const candidate = leadBundling(candidacy, (fenced) => {
    const reign: Started = { holder, database: fenced, stopped: false }
    started.push(reign)
    return {
      wake: () => {},
      stop: async () => {
        reign.stopped = true
      },
    }
  })
  candidates.push(candidate)
  return candidate
}

function letExpire() {
  return sql`update leases set expires_at = clock_timestamp() where name = ${bundlerLease(chainId)}`.execute(
    shared().database,
  )
}

function write(database: Database) {
  return sql`update accounts set name = name where false`.execute(database)
}

test('one of several bundles, and hands over when it stops', async () => {
  chainId += 1
  const started: Started[] = []
  const all = ['a', 'b', 'c'].map((holder) => compete(holder, started))
  await until(async () => started.length > 0)
  for (const each of all) each.compete()
  const first = started[0]!
  expect(all.filter((each) => each.leads())).toHaveLength(1)
  await all.find((each) => each.leads())!.stop()
  expect(first.stopped).toBe(true)
  for (const each of all) each.compete()
  const second = await until(async () => started[1])
  expect(second.holder).not.toBe(first.holder)
  await write(second.database)
  await expect(write(first.database)).rejects.toBeInstanceOf(LeaseLostError)
})

test('one that comes back after another took over learns it from its first write, and stops', async () => {
  chainId += 1
  const started: Started[] = []
  const former = compete('former', started)
  const first = await until(async () => started[0])
  await letExpire()
  const next = compete('next', started)
  await until(async () => next.leads())
  expect(former.leads()).toBe(true)
  await expect(write(first.database)).rejects.toBeInstanceOf(LeaseLostError)
  await until(async () => !former.leads())
  expect(first.stopped).toBe(true)
  await write(started[1]!.database)
  expect(started).toHaveLength(2)
})

test('a lease is renewed in time, and kept while the database is away', async () => {
  chainId += 1
  const started: Started[] = []
  const { connection, database: admin } = shared()
  const database = openDatabase(connection, silent, { size: 1 })
  const candidate = compete('a', started, { database, duration: 600 })
  await until(async () => candidate.leads())
  const remaining = async () =>
    (await findLease(admin, bundlerLease(chainId), 3_600_000))!.remaining
  await until(async () => (await remaining()) < 450)
  await sql`select pg_terminate_backend(pid) from pg_stat_activity
    where datname = current_database() and pid <> pg_backend_pid()`.execute(admin)
  await until(async () => (await remaining()) > 550)
  expect(started).toHaveLength(1)
  await write(started[0]!.database)
  await candidate.stop()
  await database.destroy()
})

test('a process that knows that it is alone takes the lease that a killed one left', async () => {
  chainId += 1
  const started: Started[] = []
  compete('killed', started)
  await until(async () => started.length === 1)
  compete('alone', started, { alone: true })
  const taken = await until(async () => started[1])
  await write(taken.database)
  await expect(write(started[0]!.database)).rejects.toBeInstanceOf(LeaseLostError)
})
