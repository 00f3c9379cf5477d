import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import type { Address, Hex } from 'viem'
import { afterEach, expect, test } from 'vitest'
import { counterName } from '../../../src/paymaster/ledger/budgetCounters.js'
import { settleLedger, undoLedger } from '../../../src/paymaster/ledger/ledger.js'
import type { ReservationSlot } from '../../../src/paymaster/ledger/reservations.js'
import type { ClaimDecision } from '../../../src/paymaster/policy/decideReservation.js'
import { policiesOn } from '../../support/database/policiesOn.js'
import type { TermsInput } from '../../../src/paymaster/policy/policySchema.js'
import { toMicroUsd } from '../../../src/paymaster/policy/price.js'
import { createRandom, type Random } from '../../evm/random.js'
import { createApp } from '../../support/database/createApp.js'
import { useDatabase } from '../../support/database/database.js'
import { everyExpired } from '../../support/database/everyExpired.js'
import { entryPoint, inclusionOf } from '../../support/operations/inclusionOf.js'

const testDatabase = useDatabase()
function database() {
  return testDatabase().database
}

const rounds = 10
const requestsPerRound = 100
const finality = 6
const price = 2_500_000_000n
const chainId = 777

/** A sponsorship that was given: it may be included as long as it is valid. */
type Grant = {
  readonly slot: ReservationSlot
  readonly hash: Hex
  readonly maxCost: bigint
  readonly validUntil: bigint
  readonly charges: readonly ClaimDecision[]
}
type Event = {
  readonly slot: ReservationSlot
  readonly hash: Hex
  readonly cost: bigint
  readonly grant?: Grant
}
type Block = { readonly number: bigint; readonly timestamp: number; readonly events: Event[] }

const workers: ChildProcess[] = []
afterEach(async () => {
  for (const worker of workers.splice(0)) {
    const isOver = worker.exitCode !== null || worker.signalCode !== null
    const gone = isOver || once(worker, 'exit')
    if (worker.connected) worker.disconnect()
    await gone
  }
})

/** The next message of a worker; rejects when it ends instead. */
async function nextMessage(worker: ChildProcess): Promise<unknown> {
  const settled = new AbortController()
  const { signal } = settled
  const ended = once(worker, 'exit', { signal }).then(([code, killedBy]) => {
    throw new Error(`the worker ended (${code ?? killedBy}) without an answer`)
  })
  const answered = once(worker, 'message', { signal }).then(([message]) => message)
  // The other one of the two is aborted at the end.
  for (const each of [ended, answered]) each.catch(() => {})
  return Promise.race([answered, ended]).finally(() => settled.abort())
}

async function startWorker(policies: readonly object[]): Promise<ChildProcess> {
  const path = fileURLToPath(new URL('reserveWorker.mjs', import.meta.url))
  const worker = fork(path, { serialization: 'advanced', execArgv: [] })
  workers.push(worker)
  worker.send({ connection: testDatabase().connection, policies })
  await nextMessage(worker)
  return worker
}

type Answer = { id: number; kind: string; hash: Hex; charges: ClaimDecision[] }

async function ask(worker: ChildProcess, requests: readonly object[]): Promise<Answer[]> {
  const answered = nextMessage(worker)
  worker.send({ requests })
  const { answers, failures } = (await answered) as { answers: Answer[]; failures: string[] }
  expect(failures).toEqual([])
  return answers
}

function randomTerms(random: Random, account: boolean): TermsInput {
  const subjects = account ? (['sender', 'app', 'account'] as const) : (['sender', 'app'] as const)
  const windows = [
    'never',
    'hour',
    'day',
    { rollingSeconds: 600 },
    { rollingSeconds: 3_600 },
  ] as const
  const budgets = new Map<string, NonNullable<TermsInput['budgets']>[number]>()
  for (let count = 1 + random.below(3); count > 0; count--) {
    const per = random.pick(subjects)
    const scale = (per === 'sender' ? 1 : 6) * (account ? 3 : 1)
    const limit = random.pick([
      {
        wei: String(
          BigInt(1 + random.below(3_000 * scale)) * 10n ** 12n + BigInt(random.below(999)),
        ),
      },
      { usd: `${random.below(8 * scale)}.${100_000 + random.below(900_000)}` },
      { count: 1 + random.below(6 * scale) },
    ])
    const window = random.pick(windows)
    budgets.set(`${per} ${Object.keys(limit)[0]} ${JSON.stringify(window)}`, { per, limit, window })
  }
  return { budgets: [...budgets.values()] }
}

/** A chain of which blocks can be taken back, and what the ledger knows of it. */
function createChain(random: Random) {
  const blocks: Block[] = [{ number: 1n, timestamp: 1_700_000_000, events: [] }]
  let final = 1n
  const head = () => blocks.at(-1)!
  const events = () => blocks.flatMap((block) => block.events)
  const isTaken = (slot: ReservationSlot) =>
    events().some((event) => event.slot.sender === slot.sender && event.slot.nonce === slot.nonce)

  /** Grows by some blocks, whose events the ledger gets in one step, as it does when it lags. */
  const grow = async (grants: readonly Grant[], seconds: number): Promise<void> => {
    const fresh: Block[] = []
    for (let count = 1 + random.below(3); count > 0; count--) {
      const timestamp = head().timestamp + 1 + random.below(seconds)
      const block: Block = { number: head().number + 1n, timestamp, events: [] }
      blocks.push(block)
      fresh.push(block)
      for (let tries = grants.length === 0 ? 0 : random.below(12); tries > 0; tries--) {
        const grant = random.pick(grants)
        if (grant.validUntil < timestamp || isTaken(grant.slot)) continue
        const foreign = random.oneIn(12)
        const part = BigInt(random.below(1_001))
        const hash: Hex = foreign
          ? `0x${random
              .below(2 ** 31)
              .toString(16)
              .padStart(64, 'f')}`
          : grant.hash
        const cost = (grant.maxCost * part) / 1_000n
        block.events.push({ slot: grant.slot, hash, cost, ...(!foreign && { grant }) })
      }
    }
    const included = fresh.flatMap(({ number, events }) =>
      events.map((event) => inclusionOf({ ...event, block: number })),
    )
    const { number, timestamp } = head()
    if (number - BigInt(finality) > final) final = number - BigInt(finality)
    const looked = await everyExpired(database(), chainId, final)
    const progress = { number, timestamp, final, looked }
    await database()
      .transaction()
      .execute((trx) => settleLedger(trx, chainId, included, progress))
  }

  const reorganise = async (): Promise<void> => {
    const depth = Math.min(1 + random.below(finality), Number(head().number - final))
    blocks.splice(blocks.length - depth)
    await database()
      .transaction()
      .execute((trx) => undoLedger(trx, chainId, head().number))
  }

  return { head, events, grow, reorganise }
}

/** The bucket in which the ledger counts each charge of each grant; a later grant of its slot moves it. */
async function bucketsOfCharges(): Promise<ReadonlyMap<string, bigint>> {
  const rows = await database()
    .selectFrom('charges')
    .innerJoin('decisions', 'decisions.id', 'charges.decision_id')
    .select(['user_op_hash', 'charges.policy_id', 'budget', 'subject', 'bucket'])
    .execute()
  return new Map(
    rows.map((row) => [
      chargeName(row.user_op_hash!, { ...row, policyId: row.policy_id }),
      row.bucket,
    ]),
  )
}

type ChargedBudget = Pick<ClaimDecision, 'policyId' | 'budget' | 'subject'>

function chargeName(hash: Hex, { policyId, budget, subject }: ChargedBudget): string {
  return [hash, policyId, budget, subject].join(' ')
}

/** The charges of the chain to each bucket of each budget, by the events alone. */
function spentOnChain(
  events: readonly Event[],
  buckets: ReadonlyMap<string, bigint>,
): Map<string, { claim: ClaimDecision; spent: bigint }> {
  const spent = new Map<string, { claim: ClaimDecision; spent: bigint }>()
  for (const { grant, hash, cost } of events) {
    for (const claim of grant?.charges ?? []) {
      const bucket = buckets.get(chargeName(hash, claim))!
      const name = counterName({ ...claim, bucket })
      const amount = { wei: cost, count: 1n, usd: toMicroUsd(cost, price) }[claim.unit]
      spent.set(name, { claim, spent: (spent.get(name)?.spent ?? 0n) + amount })
    }
  }
  return spent
}

function counters() {
  return database().selectFrom('budget_counters').selectAll().execute()
}

/** Each budget with all spans of its length: no sum over its buckets is above the limit. */
async function expectWithinLimits(
  limits: ReadonlyMap<string, { limit: bigint; span: number }>,
): Promise<void> {
  const rows = await counters()
  for (const row of rows) {
    const { limit, span } = limits.get(`${row.policy_id} ${row.budget}`)!
    const sum = rows
      .filter(
        (other) =>
          other.policy_id === row.policy_id &&
          other.budget === row.budget &&
          other.subject === row.subject &&
          other.bucket <= row.bucket &&
          other.bucket > row.bucket - BigInt(span),
      )
      .reduce((total, { used }) => total + used, 0n)
    expect(sum, `${row.budget} of ${row.subject} at ${row.bucket}`).toBeLessThanOrEqual(limit)
  }
}

/** No counter holds anything that no reservation accounts for, nor misses any. */
async function expectNoLeak(): Promise<void> {
  const { rows } = await sql<{ used: bigint; counted: bigint }>`
    select c.used, coalesce(sum(held.used), 0)::numeric(78, 0) as counted
    from budget_counters c left join lateral (
      select case when r.state in ('open', 'included', 'expired') then max(h.amount)
        else max(h.settled) end as used
      from charges h join reservations r on r.id = h.reservation_id
      where (h.policy_id, h.budget, h.subject, h.bucket)
        = (c.policy_id, c.budget, c.subject, c.bucket)
      group by r.id, r.state) held on true
    group by c.policy_id, c.budget, c.subject, c.bucket`.execute(database())
  for (const { used, counted } of rows) expect(used).toBe(counted)
}

async function storm(seed: number): Promise<{ granted: number; refused: number }> {
  // What an earlier storm left, or one that failed, is none of this one's.
  await sql`truncate accounts, reservations, budget_counters, payers cascade`.execute(database())
  const random = createRandom(seed)
  const apps = [await createApp(database())]
  const { account_id: accountId } = await database()
    .selectFrom('apps')
    .select('account_id')
    .where('id', '=', apps[0]!)
    .executeTakeFirstOrThrow()
  const second = await database()
    .insertInto('apps')
    .values({ name: 'second', account_id: accountId })
    .returning('id')
    .executeTakeFirstOrThrow()
  apps.push(second.id)

  const manage = policiesOn(database())
  const made: { id: string; appId: string | null; name: string; terms: TermsInput }[] = []
  for (const appId of [null, ...apps, ...apps]) {
    const terms = randomTerms(random, appId === null)
    const { policyId } = await manage.create(accountId, { appId, name: `p${made.length}`, terms })
    made.push({ id: policyId, appId, name: `p${made.length}`, terms })
  }
  const of = (appId: string | null) =>
    made.filter((policy) => policy.appId === appId).map(({ id }) => id)
  const pair = [await startWorker(made), await startWorker(made)]

  const senders = Array.from({ length: 8 }, (_, i): Address => `0x${String(i + 1).repeat(40)}`)
  const payers = apps.map((_, i): Address => `0x${'abcd'[i]!.repeat(40)}`)
  const chain = createChain(random)
  const grants: Grant[] = []
  const limits = new Map<string, { limit: bigint; span: number }>()
  let refused = 0

  for (let round = 0; round < rounds; round++) {
    const { number: blockNumber, timestamp } = chain.head()
    const requests = Array.from({ length: requestsPerRound }, (_, id) => {
      const app = random.below(apps.length)
      const again = grants.length > 0 && random.oneIn(5) ? random.pick(grants).slot : undefined
      const slot: ReservationSlot = again ?? {
        chainId,
        entryPoint,
        appId: apps[app]!,
        paymaster: payers[app]!,
        sender: random.pick(senders),
        nonce: BigInt(random.below(40) + round * 20),
      }
      return {
        id,
        slot,
        at: timestamp,
        price: { microUsd: price, asOf: timestamp },
        maxCost: BigInt(1 + random.below(400)) * 10n ** 12n + BigInt(random.below(1_000_000)),
        validUntil: BigInt(timestamp + 30 + random.below(600)),
        head: { deposit: 10n ** 24n, blockNumber, timestamp },
        ofAccount: of(null),
        ofApp: of(slot.appId),
      }
    })
    const known = [...grants]
    const halves = [requests.filter(({ id }) => id % 2 === 0), requests.filter(({ id }) => id % 2)]
    const asked = Promise.all(pair.map((worker, index) => ask(worker, halves[index]!)))
    // The chain goes on meanwhile, and loses some of its blocks.
    for (let step = 0; step < 6; step++) {
      if (random.oneIn(4)) await chain.reorganise()
      else await chain.grow(known, 40)
    }
    for (const { id, kind, hash, charges } of (await asked).flat()) {
      const request = requests[id]!
      if (kind !== 'granted') {
        refused++
        continue
      }
      const { slot, maxCost, validUntil } = request
      grants.push({ slot, hash, maxCost, validUntil, charges })
      for (const { policyId, budget, limit } of charges) {
        const rolling = /rolling-(\d+)s$/.exec(budget)?.[1]
        limits.set(`${policyId} ${budget}`, { limit, span: rolling ? Number(rolling) : 1 })
      }
    }
    await expectWithinLimits(limits)
    await expectNoLeak()
    for (const { claim, spent } of spentOnChain(chain.events(), await bucketsOfCharges()).values())
      expect(spent).toBeLessThanOrEqual(claim.limit)
  }

  // All that was promised ends, and its end becomes final.
  for (let step = 0; step < 12; step++) await chain.grow(grants, 10)
  for (let step = 0; step < 60; step++) await chain.grow([], 60)
  const open = await database()
    .selectFrom('reservations')
    .select('id')
    .where('state', 'in', ['open', 'included', 'expired'])
    .execute()
  expect(open).toEqual([])
  const spent = spentOnChain(chain.events(), await bucketsOfCharges())
  for (const row of await counters()) {
    const name = counterName({ ...row, policyId: row.policy_id })
    const onChain = spent.get(name)?.spent ?? 0n
    expect([name, row.used, row.settled]).toEqual([name, onChain, onChain])
    spent.delete(name)
  }
  expect([...spent.keys()]).toEqual([])
  return { granted: grants.length, refused }
}

test('a worker that ends instead of answering fails the storm at once', async () => {
  const worker = await startWorker([])
  const answered = ask(worker, [])
  worker.kill('SIGKILL')
  await expect(answered).rejects.toThrow('the worker ended (SIGKILL)')
})

/** Seed 6 makes policies that grant next to nothing. */
const seeds = process.env.PURSER_FAULTS === 'full' ? [1, 2, 3, 4, 5, 7, 8, 9] : [20_261_121]

for (const seed of seeds) {
  test(`1,000 requests of two processes, with reorgs, never exceed a budget (seed ${seed})`, async () => {
    const { granted, refused } = await storm(seed)
    expect(granted).toBeGreaterThan(50)
    expect(refused).toBeGreaterThan(100)
    expect(granted + refused).toBe(rounds * requestsPerRound)
  })
}
