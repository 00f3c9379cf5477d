import { closeSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import type { Hex } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { includedHashes, withBooks } from '../support/database/books.js'
import { rpc } from '../support/http/jsonRpc.js'
import { devAccount } from '../support/service/devAccount.js'
import { included, intentsOf, prepare, send } from '../support/service/intents.js'
import { prepareServing, type Serving } from '../support/service/serving.js'
import type { RunningService } from '../support/service/startPurser.js'
import { until } from '../support/until.js'

/*
 * Half an hour at one rate: memory, descriptors and sessions, the bytes that an operation takes in the database and the times of its
 * statements stay what they were, and nothing is lost. The first third is the time in which all of them grow to their size.
 */

const isFull = process.env.PURSER_FAULTS === 'full'
const minutes = Number(process.env.PURSER_STEADY_MINUTES ?? 30)
const perSecond = Number(process.env.PURSER_STEADY_RATE ?? 70)
/** Each has an operation in flight or a few, and none waits for another: every one has a nonce key of its own. */
const ACCOUNTS = 480
const MEGABYTE = 2 ** 20
/** Milliseconds between two looks. */
const LOOK = (minutes * 60_000) / 60
/** Requests under way at once. */
const MOST_ASKED = 200
/** Share of the database's statements whose time it writes down. */
const SHARE_TIMED = 0.02

type Sender = Awaited<ReturnType<typeof devAccount>> & { readonly op: Operation }

type Look = {
  readonly acknowledged: number
  /** Resident bytes. */
  readonly memory: number
  readonly descriptors: number
  readonly sessions: number
  /** Bytes of each table with its indexes. */
  readonly tables: Readonly<Record<string, number>>
  /** Milliseconds of the statements since the look before. */
  readonly statements: readonly number[]
}

function quantile(numbers: readonly number[], share: number): number {
  return [...numbers].sort((a, b) => a - b)[Math.floor((numbers.length - 1) * share)] ?? 0
}

const sumOf = (numbers: readonly number[]) => numbers.reduce((sum, each) => sum + each, 0)

/** What a third of the looks says. */
function summaryOf(looks: readonly Look[]) {
  const [first, last] = [looks[0]!, looks.at(-1)!]
  const grown = sumOf(Object.values(last.tables)) - sumOf(Object.values(first.tables))
  const times = looks.flatMap(({ statements }) => statements)
  return {
    memory: quantile(
      looks.map(({ memory }) => memory),
      0.5,
    ),
    bytesPerOperation: grown / (last.acknowledged - first.acknowledged),
    p50: quantile(times, 0.5),
    p99: quantile(times, 0.99),
  }
}

describe.runIf(isFull)(`${perSecond} operations a second for ${minutes} minutes`, () => {
  let serving: Serving
  let service: RunningService
  let logRead = 0

  beforeAll(async () => {
    const [EXECUTOR_2, EXECUTOR_3, EXECUTOR_4] = [2, 3, 4].map((each) => devKey(each))
    serving = await prepareServing(
      1_046,
      async () => ({ executorKeys: ['', '_2', '_3', '_4'].map((each) => `env:EXECUTOR${each}`) }),
      { EXECUTOR_2, EXECUTOR_3, EXECUTOR_4 } as Record<string, string>,
    )
    service = await serving.start()
    await withBooks(serving.folder, async (database) => {
      for (const [name, value] of [
        ['log_min_duration_sample', '0'],
        ['log_statement_sample_rate', String(SHARE_TIMED)],
        ['log_parameter_max_length', '0'],
      ] as const)
        await sql`alter system set ${sql.raw(name)} = ${sql.lit(value)}`.execute(database)
      await sql`select pg_reload_conf()`.execute(database)
    })
  })
  afterAll(() => serving?.stop())

  /** Accounts that exist, and an operation of each with its limits, for any further nonce key. */
  async function createSenders(): Promise<{ senders: Sender[]; hashes: Set<Hex> }> {
    const intents = intentsOf('steady', ACCOUNTS).map((each) => ({
      ...each,
      payer: 'self' as const,
    }))
    for (const intent of intents) {
      await prepare(serving.info(), intent)
      await send(serving.info(), intent)
    }
    const hashes = new Set(await included(serving.info(), intents))
    const senders: Sender[] = []
    for (const { seed } of intents) {
      const account = await devAccount(serving.info(), seed)
      // Accounts of one kind need the same gas; the fees leave room for a base fee that rises.
      const { op } = senders[0] ?? { op: await account.selfPaid(undefined, 1n) }
      const maxFeePerGas = senders[0] ? op.maxFeePerGas : op.maxFeePerGas * 4n
      const { address: sender } = account.account
      await account.tester.setBalance({ address: sender, value: 10n ** 20n })
      senders.push({ ...account, op: { ...op, sender, maxFeePerGas } })
    }
    return { senders, hashes }
  }

  /** Milliseconds of the statements that the database has written down since it was last asked. */
  function newTimes(): number[] {
    const log = openSync(join(serving.folder, 'postgres/server.log'), 'r')
    const buffer = Buffer.alloc(MEGABYTE)
    let text = ''
    for (let size = 1; size > 0; ) {
      size = readSync(log, buffer, 0, buffer.length, logRead)
      logRead += size
      text += buffer.toString('latin1', 0, size)
    }
    closeSync(log)
    return [...text.matchAll(/duration: ([\d.]+) ms +(?:execute|statement)/g)].map(([, ms]) =>
      Number(ms),
    )
  }

  async function look(acknowledged: number): Promise<Look> {
    const { pid } = service.process
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    const found = await withBooks(serving.folder, async (database) => {
      const { rows: sessions } = await sql<{ count: number }>`select count(*)::int as count
        from pg_stat_activity where application_name like 'purser%'
        and backend_type = 'client backend'`.execute(database)
      const { rows: tables } = await sql<{ name: string; bytes: number }>`
        select relname as name, pg_total_relation_size(relid)::float8 as bytes
        from pg_stat_user_tables`.execute(database)
      return { sessions: sessions[0]?.count ?? 0, tables }
    })
    return {
      acknowledged,
      memory: Number(/VmRSS:\s+(\d+)/.exec(status)?.[1]) * 1_024,
      descriptors: readdirSync(`/proc/${pid}/fd`).length,
      sessions: found.sessions,
      tables: Object.fromEntries(found.tables.map(({ name, bytes }) => [name, bytes])),
      statements: newTimes(),
    }
  }

  test('everything stays as it was, and nothing is lost', {
    timeout: (minutes * 2 + 20) * 60_000,
  }, async () => {
    const { senders, hashes } = await createSenders()
    const refused = new Map<number, number>()
    const failures: unknown[] = []
    const looks: Look[] = []
    let next = 0
    let asking = 0

    const sendNext = async (at: number): Promise<void> => {
      const { op, sign, hashOf, entryPoint } = senders[at % senders.length]!
      const signed = await sign({ ...op, nonce: BigInt(at + 2) << 64n })
      const params = [toInterfaceOperation(signed), entryPoint]
      const { body } = await rpc(serving.info().bundlerUrl, 'eth_sendUserOperation', params)
      if (body.error) refused.set(body.error.code, (refused.get(body.error.code) ?? 0) + 1)
      else {
        expect(body.result).toBe(hashOf(signed))
        hashes.add(body.result)
      }
    }

    const begin = performance.now()
    for (let at = 0; at < minutes * 60_000; at = performance.now() - begin) {
      for (; next < (at / 1_000) * perSecond && asking < MOST_ASKED; next++) {
        asking++
        void sendNext(next)
          .catch((error: unknown) => failures.push(error))
          .finally(() => asking--)
      }
      if (at >= looks.length * LOOK) looks.push(await look(hashes.size))
      await delay(10)
    }
    const seconds = (performance.now() - begin) / 1_000
    await until(async () => asking === 0)
    looks.push(await look(hashes.size))

    const third = Math.floor(looks.length / 3)
    const [middle, last] = [
      summaryOf(looks.slice(third, 2 * third + 1)),
      summaryOf(looks.slice(2 * third)),
    ]
    const largest = Object.entries(looks.at(-1)?.tables ?? {})
      .sort(([, a], [, b]) => b - a)
      .slice(0, 8)
      .map(([name, bytes]) => [
        name,
        ...[third, 2 * third].map((at) => looks[at]?.tables[name]),
        bytes,
      ])
    const summary = {
      asked: next,
      acknowledged: hashes.size - ACCOUNTS,
      perSecond: (hashes.size - ACCOUNTS) / seconds,
      refused: Object.fromEntries(refused),
      memory: looks.map(({ memory }) => Math.round(memory / MEGABYTE)).join(' '),
      sessions: Math.max(...looks.map(({ sessions }) => sessions)),
      descriptors: Math.max(...looks.map(({ descriptors }) => descriptors)),
      middle,
      last,
      largest,
    }
    const figures = JSON.stringify(summary)
    process.stdout.write(`${figures}\n`)

    expect(failures).toEqual([])
    // A sender that has four in flight, or a service that is busy; nothing else is refused.
    for (const code of refused.keys()) expect([-32_005, -32_505]).toContain(code)
    expect(last.memory, figures).toBeLessThan(middle.memory * 1.15 + 40 * MEGABYTE)
    expect(summary.sessions, figures).toBeLessThanOrEqual(24)
    expect(summary.descriptors, figures).toBeLessThan(400)
    expect(last.bytesPerOperation, figures).toBeLessThan(middle.bytesPerOperation * 1.25 + 500)
    expect(last.p99, figures).toBeLessThan(middle.p99 * 2 + 2)

    const open = (table: 'operations' | 'bundles', states: readonly string[]) =>
      withBooks(serving.folder, async (database) => {
        const { rows } = await sql`select 1 from ${sql.table(table)}
          where state = any(${sql.val(states)}::text[]) limit 1`.execute(database)
        return rows.length > 0
      })
    const patience = (minutes + 5) * 60_000
    await until(async () => !(await open('operations', ['pooled', 'bundled'])), patience)
    await until(async () => !(await open('bundles', ['signed'])), patience)
    expect(await open('operations', ['dropped'])).toBe(false)
    expect(await open('bundles', ['reverted'])).toBe(false)
    const onChain = await includedHashes(serving.info())
    expect(onChain.length).toBe(hashes.size)
    expect(onChain.every((hash) => hashes.has(hash))).toBe(true)
  })
})
