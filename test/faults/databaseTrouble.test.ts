import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import { expectBalancedBooks, tankDeposit, withBooks } from '../support/database/books.js'
import { post, rpc } from '../support/http/jsonRpc.js'
import { devAccount } from '../support/service/devAccount.js'
import { type Intent, included, intentsOf, prepare, send } from '../support/service/intents.js'
import {
  makeDataFolder,
  type RunningPurser,
  removeDataFolder,
  startPurser,
} from '../support/service/startPurser.js'
import { killChain, killDatabase } from '../support/service/survivors.js'
import { until } from '../support/until.js'

const full = process.env.PURSER_FAULTS === 'full'

let folder: string
let purser: RunningPurser
let deposit: bigint
const hashes: `0x${string}`[] = []

beforeAll(async () => {
  folder = makeDataFolder()
  purser = await startPurser(folder)
  deposit = await tankDeposit(purser.info)
})
afterAll(async () => {
  await purser?.end('SIGTERM')
  await killDatabase(folder)
  await killChain(folder)
  removeDataFolder(folder)
})

/** Sends until it is acknowledged; every refusal on the way must say that the database is away. */
async function persist(intent: Intent, seen: Set<number>): Promise<void> {
  const { info } = purser
  const account = await devAccount(info, intent.seed)
  await until(async () => {
    const params = [toInterfaceOperation(intent.op!), account.entryPoint]
    const { status, body } = await rpc(info.bundlerUrl, 'eth_sendUserOperation', params)
    seen.add(status)
    if (body.error) expect([status, body.error.code]).toEqual([503, -32005])
    else intent.acknowledged = body.result
    return intent.acknowledged
  })
}

/** Reads of every kind while `going`; returns the HTTP statuses that were answered. */
async function readOn(going: () => boolean): Promise<Set<number>> {
  const { info } = purser
  const seen = new Set<number>()
  while (going()) {
    const [unknown, webhook, standard] = await Promise.all([
      rpc(info.bundlerUrl, 'eth_getUserOperationByHash', [`0x${'ab'.repeat(32)}`]),
      fetch(`${info.webhookApiUrl}/api/v2/public/sdk/webhook?webhookId=none`, {
        headers: { authToken: info.authToken, apiKey: info.apiKey },
      }),
      post(`${info.url}/api/v3/${info.chainId}/${info.apiKey}`, {
        jsonrpc: '2.0',
        id: 1,
        method: 'eth_getUserOperationReceipt',
        params: [`0x${'cd'.repeat(32)}`],
      }),
    ])
    for (const { status } of [unknown, webhook, standard]) seen.add(status)
    if (unknown.body.error) expect(unknown.body.error.code).toBe(-32005)
    if (standard.body.error) expect(standard.body.error.code).toBe(-32005)
  }
  return seen
}

/** Ends every session of the service at once; returns how many there were. */
function cutAll(): Promise<number> {
  return withBooks(folder, async (database) => {
    const { rows } = await sql`select pg_terminate_backend(pid) from pg_stat_activity
      where pid <> pg_backend_pid() and backend_type = 'client backend'`.execute(database)
    return rows.length
  })
}

/** Sessions that listen, and holders of the service's lock. */
function guards(): Promise<{ listeners: number; locks: number }> {
  return withBooks(folder, async (database) => {
    const { rows } = await sql<{ listeners: number; locks: number }>`select
      (select count(*)::int from pg_stat_activity where query ilike 'listen %') as listeners,
      (select count(*)::int from pg_locks where locktype = 'advisory' and granted
        and mode = 'ExclusiveLock') as locks`.execute(database)
    return rows[0]!
  })
}

async function recover(intents: readonly Intent[], statuses: Iterable<number>): Promise<void> {
  expect([...statuses].filter((status) => status >= 500 && status !== 503)).toEqual([])
  const { info } = purser
  await until(async () => (await fetch(`${info.url}/health/ready`)).status === 200)
  await until(async () => {
    const { listeners, locks } = await guards().catch(() => ({ listeners: 0, locks: 0 }))
    return listeners === 3 && locks === 1
  })
  await Promise.all(intents.map((intent) => send(info, intent)))
  hashes.push(...(await included(info, intents)))
  await expectBalancedBooks(folder, info, hashes, deposit)
  expect(purser.process.exitCode).toBeNull()
}

test('cut sessions, again and again, cost nobody an operation', async () => {
  const intents = intentsOf('cut', full ? 40 : 8)
  for (const intent of intents) await prepare(purser.info, intent)
  let going = true
  const statuses = new Set<number>()
  const reads = readOn(() => going)
  const sends = (async () => {
    for (let at = 0; at < intents.length; at += 2)
      await Promise.all(intents.slice(at, at + 2).map((intent) => persist(intent, statuses)))
  })()
  let cut = 0
  for (let round = 0; round < (full ? 20 : 4); round++) cut += await cutAll()
  await sends
  going = false
  expect(cut).toBeGreaterThan(4)
  await recover(intents, [...statuses, ...(await reads)])
})

test('a killed database comes back, and costs nobody an operation', async () => {
  for (let round = 0; round < (full ? 5 : 1); round++) {
    const intents = intentsOf(`killed ${round}`, 6)
    for (const intent of intents) await prepare(purser.info, intent)
    const statuses = new Set<number>()
    await Promise.all(intents.slice(0, 3).map((intent) => send(purser.info, intent)))
    await killDatabase(folder)
    await Promise.all(intents.slice(3).map((intent) => persist(intent, statuses)))
    await recover(intents, statuses)
  }
})

test('a service that another one has replaced ends', async () => {
  await withBooks(folder, async (database) => {
    const lockOf = async (granted: boolean) => {
      const { rows } = await sql<{ pid: number; key: bigint }>`
        select pid, (classid::bigint << 32) | objid::bigint as key from pg_locks
        where locktype = 'advisory' and mode = 'ExclusiveLock' and granted = ${granted}`.execute(
        database,
      )
      return rows[0]
    }
    const lock = await until(() => lockOf(true))
    await withBooks(folder, (rival) =>
      rival.connection().execute(async (session) => {
        // Stands in line while the service has the lock, and so gets it before the service can again.
        const replaced = sql`select pg_advisory_lock(${lock.key})`.execute(session)
        await until(() => lockOf(false))
        await sql`select pg_terminate_backend(${lock.pid})`.execute(database)
        await replaced
        expect(await purser.ended).toEqual({ code: 1, signal: null })
      }),
    )
  })
  await until(async () => /Another Purser/.test(purser.output()))
})
