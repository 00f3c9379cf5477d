/**
 * What a sponsorship costs on top of the estimate that it contains, and what the ledger costs, on a
 * local anvil and the embedded database, in one run. Prints a table and the same as JSON.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { numberToHex, parseEther } from 'viem'
import { type Database, openDatabase } from '../src/db/database.js'
import { startEmbeddedPostgres } from '../src/db/embedded/embeddedPostgres.js'
import { migrate } from '../src/db/migrate.js'
import type { Draft } from '../src/erc4337/draft.js'
import { claimBudgets } from '../src/paymaster/policy/budget/budget.js'
import { policiesOn } from '../test/support/database/policiesOn.js'
import { loadPolicies } from '../src/paymaster/policy/policies.js'
import { reserve } from '../src/paymaster/policy/reserve.js'
import { tankStub, withPaymaster } from '../src/paymaster/sponsoredDraft.js'
import { createApp } from '../test/support/database/createApp.js'
import { silent } from '../test/support/logger.js'
import { openWorld } from '../test/support/world/openWorld.js'
import { TARGET } from '../test/support/world/versionChain.js'

const WARM_UP = 40
const ROUNDS = 100
const TICK = 10
/** Accounts that take turns, because nothing is sent: each may hold 16 sponsorships so. */
const SENDERS = 128
/** Clients that ask at once, and how often they do together. */
const CLIENTS = 64
const REQUESTS = 1_000

function percentile(times: readonly number[], part: number): number {
  return [...times].sort((a, b) => a - b)[Math.floor(times.length * part)] ?? 0
}

/** Milliseconds of CPU that the database's sessions have used. */
async function databaseCpu(database: Database): Promise<number> {
  const { rows } = await sql<{ pid: number }>`
    select pid from pg_stat_activity where datname = current_database()`.execute(database)
  const ticks = rows.map(({ pid }) => {
    const fields = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
    return Number(fields[11]) + Number(fields[12])
  })
  return ticks.reduce((sum, each) => sum + each, 0) * TICK
}

type Row = { name: string; p50: number; p99: number; cpu: number; databaseCpu: number }

/** Bodies run in turn, so that whatever slows the machine slows all of them. */
async function compare(
  database: Database,
  bodies: Readonly<Record<string, () => Promise<unknown>>>,
): Promise<Row[]> {
  for (let i = 0; i < WARM_UP; i++) for (const body of Object.values(bodies)) await body()
  const runs = Object.entries(bodies).map(([name, body]) => ({ name, body, times: [] as number[] }))
  for (let i = 0; i < ROUNDS; i++) {
    for (const { body, times } of runs) {
      const start = performance.now()
      await body()
      times.push(performance.now() - start)
    }
  }
  const rows: Row[] = []
  for (const { name, body, times } of runs) {
    const before = [process.cpuUsage(), await databaseCpu(database)] as const
    for (let i = 0; i < ROUNDS; i++) await body()
    const { user, system } = process.cpuUsage(before[0])
    rows.push({
      name,
      p50: percentile(times, 0.5),
      p99: percentile(times, 0.99),
      cpu: (user + system) / 1_000 / ROUNDS,
      databaseCpu: ((await databaseCpu(database)) - before[1]) / ROUNDS,
    })
  }
  return rows
}

/** How many times a second `body` is answered where all clients ask at once, and milliseconds of CPU for each. */
async function rush(body: () => Promise<unknown>): Promise<{ perSecond: number; cpu: number }> {
  let left = REQUESTS
  const [start, before] = [performance.now(), process.cpuUsage()]
  const client = async () => {
    while (left-- > 0) await body()
  }
  await Promise.all(Array.from({ length: CLIENTS }, client))
  const { user, system } = process.cpuUsage(before)
  const perSecond = (REQUESTS * 1_000) / (performance.now() - start)
  return { perSecond, cpu: (user + system) / 1_000 / REQUESTS }
}

const budgets = [
  { per: 'operation', limit: { wei: '1000000000000000000' } },
  { per: 'sender', limit: { wei: '900000000000000000000000' }, window: 'day' },
  { per: 'app', limit: { wei: '900000000000000000000000' }, window: { rollingSeconds: 3_600 } },
  { per: 'app', limit: { count: 1_000_000 }, window: 'month' },
] as const

async function bench(database: Database) {
  const world = await openWorld(database, { versions: ['0.7'] })
  const { entryPoint, chainId } = world
  const chain = world.at('0.7')
  try {
    const makeApp = async () => {
      const appId = await createApp(database)
      const tank = await world.makeTank(appId, parseEther('1000'))
      return { appId, tank }
    }
    const plain = await makeApp()
    const ruled = await makeApp()
    const { account_id } = await database
      .selectFrom('apps')
      .select('account_id')
      .where('id', '=', ruled.appId)
      .executeTakeFirstOrThrow()
    const manage = policiesOn(database)
    const calls = { allow: [{ target: TARGET }] }
    for (const name of ['one', 'two', 'three'])
      await manage.create(account_id, { appId: ruled.appId, name, terms: { budgets, calls } })

    const unset = { callGasLimit: undefined, verificationGasLimit: undefined }
    const drafts: Draft[] = []
    while (drafts.length < SENDERS)
      drafts.push({
        ...(await chain.draft('deployed', `bench ${drafts.length}`, { to: TARGET, data: '0x' })),
        ...unset,
        preVerificationGas: undefined,
        maxFeePerGas: undefined,
        maxPriorityFeePerGas: undefined,
        paymasterVerificationGasLimit: undefined,
        paymasterPostOpGasLimit: undefined,
      })
    const draft = drafts[0]!
    await world.heads.refresh()
    const range = { validAfter: 0, validUntil: Math.floor(Date.now() / 1000) + 300 }
    const stub = tankStub(plain.tank.address, range, entryPoint, draft, false)
    const stubbed = withPaymaster(draft, stub)
    let key = 0n
    const ask = (appId: string) => async () => {
      const nonce = ++key << 64n
      const request = world.request(appId, { ...drafts[Number(key) % SENDERS]!, nonce })
      const { decision } = await world.services.sponsor(request)
      if (!decision.sponsored) throw new Error(decision.message)
    }

    const { ofApp } = await loadPolicies(database, ruled.appId)
    const payer = { chainId, entryPoint: entryPoint.address, paymaster: ruled.tank.address }
    const head = { deposit: parseEther('1000'), blockNumber: 1n, timestamp: range.validAfter }
    const book = (appId: string, withPolicies: boolean) => async () => {
      const maxCost = 10n ** 12n
      const at = Math.floor(Date.now() / 1000)
      const sender = numberToHex(++key, { size: 20 })
      const spending = { appId, sender, delegators: [], maxCost, at, price: undefined }
      const candidates = ofApp.map((policy) => {
        const claimed = claimBudgets(policy, spending)
        if ('refusal' in claimed) throw new Error(claimed.refusal.message)
        return { policyId: policy.id, claims: claimed.claims }
      })
      const slot = { ...payer, appId, sender, nonce: 0n }
      const claim = { maxCost, ofAccount: [], ofApp: withPolicies ? candidates : undefined }
      const decide = () => ({
        id: crypto.randomUUID(),
        app_id: appId,
        chain_id: BigInt(chainId),
        nonce: slot.nonce,
        entry_point: entryPoint.address,
        sender,
        user_op_hash: null,
        sponsored: true,
        code: 'SPONSORED',
        message: '',
        max_cost: maxCost,
        valid_after: 0n,
        valid_until: 9n,
      })
      const request = { slot, claim, head, available: head.deposit, validUntil: 9n }
      const reserved = await reserve(database, { request, decide, calls: [] })
      if (reserved.kind !== 'granted') throw new Error(reserved.kind)
    }
    const rows = await compare(database, {
      // A nonce key of its own each time, as in the sponsorships: what is read there is not known yet.
      estimate: () => world.estimate(entryPoint, { ...stubbed, nonce: ++key << 64n }),
      'sponsor, no policies': ask(plain.appId),
      'sponsor, 3 policies of 4 budgets': ask(ruled.appId),
      'ledger alone, no policies': book(plain.appId, false),
      'ledger alone, 3 policies of 4 budgets': book(ruled.appId, true),
    })
    return { rows, atOnce: await rush(ask(plain.appId)) }
  } finally {
    await world.stop()
  }
}

const folder = mkdtempSync(join(tmpdir(), 'purser-bench-'))
const postgres = await startEmbeddedPostgres(folder, silent)
const database = openDatabase(postgres.connection, silent)
try {
  await migrate(database)
  const { rows, atOnce } = await bench(database)
  console.log(`${'milliseconds'.padEnd(40)}     p50     p99     CPU  database CPU`)
  for (const { name, p50, p99, cpu, databaseCpu } of rows) {
    const cells = [p50, p99, cpu, databaseCpu].map((each) => each.toFixed(2).padStart(8))
    console.log(`${name.padEnd(38)}${cells.join('')}`)
  }
  const estimate = rows[0]?.p50 ?? 0
  for (const { name, p50 } of rows.slice(1, 3))
    console.log(`${name}: ${(p50 - estimate).toFixed(2)} ms more than the estimate (p50)`)
  const { perSecond, cpu } = atOnce
  console.log(
    `${CLIENTS} clients: ${perSecond.toFixed(0)} sponsorships a second, ${cpu.toFixed(2)} ms of CPU each`,
  )
  console.log(JSON.stringify({ rows, atOnce }))
} finally {
  await database.destroy()
  await postgres.stop()
  rmSync(folder, { recursive: true, force: true })
}
