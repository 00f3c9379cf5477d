import { sql } from 'kysely'
import { type Address, type Hex, parseEther, parseGwei } from 'viem'
import { afterEach, beforeAll, expect, test, vi } from 'vitest'
import { followChain } from '../../src/bundler/send/followChain.js'
import { sendBundles } from '../../src/bundler/send/sendBundles.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { preVerificationBounds } from '../../src/gas/estimateOperation.js'
import { createSizeWatch } from '../../src/mempool/bundleSizes.js'
import { complete } from '../../src/paymaster/sponsoredDraft.js'
import { createRandom, type Random } from '../evm/random.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { RUNS_IN_FULL } from '../support/runs.js'
import { lower } from '../support/world/versionChain.js'
import { useWorld } from '../support/world.js'

/*
 * A day of traffic in some minutes of the chain's time, which the test sets: real estimates, admission, bundles and blocks.
 * `reachedSize.test.ts` simulates whole days.
 */

/** Milliseconds between two blocks, and for which an operation waits for company. */
const BLOCK_TIME = 12_000
const WAIT = 24_000
const MINUTE = 60_000
/** The time from which a bundler knows its traffic. */
const KNOWN_AFTER = 5 * MINUTE

/** A morning, a burst, traffic that ends at once, an evening in which few come. */
const stretch = RUNS_IN_FULL ? 3 : 1
const phases = [
  { minutes: 8 * stretch, perSecond: 0.6 },
  { minutes: stretch, perSecond: 1.5 },
  { minutes: stretch, perSecond: 0 },
  { minutes: 2 * stretch, perSecond: 0.1 },
]
const baseFee = parseGwei('50')
/** The tip pays for no part of a bundle worth the name. */
const fees = { maxFeePerGas: parseGwei('150'), maxPriorityFeePerGas: parseGwei('1') }
const SENDERS = 45

const bundling = useWorld({
  definition: {
    expectedBundleSize: 'auto',
    maxBundleWait: WAIT,
    rules: 'off',
  },
})
const chain = () => bundling().at('0.7')
let tank: Address

beforeAll(async () => {
  tank = await chain().createTank(0, { wei: parseEther('500') })
  // An app's own, as if the service had made it.
  const { database, appId, chainId } = bundling()
  const { address: entry_point } = chain().entryPoint
  const names = { app_id: appId, chain_id: BigInt(chainId), entry_point, kind: 'gas' } as const
  const keys = { owner: tank, signer: tank, signer_key: Buffer.alloc(0) }
  await database
    .insertInto('tanks')
    .values({ address: tank, ...names, ...keys })
    .execute()
})
afterEach(async () => {
  vi.useRealTimers()
  await bundling().tester.setAutomine(true)
})

type Payers = 'every payer' | 'own tank'
type Sender = { readonly name: string; readonly drafted: Operation; readonly isSponsored: boolean }

/** Accounts that are there, of which a third each pays by balance, by deposit or by a tank, or all by the tank. */
async function createSenders(payers: Payers): Promise<Sender[]> {
  const senders: Sender[] = []
  for (let place = 0; place < SENDERS; place++) {
    const name = `${payers} ${place}`
    const isSponsored = payers === 'own tank' || place % 3 === 2
    const drafted = { ...(await chain().draft('deployed', name)), ...fees }
    if (!isSponsored && place % 3 === 0) await chain().fund(drafted.sender, parseEther('100'))
    if (!isSponsored && place % 3 === 1) await chain().deposit(drafted.sender, parseEther('10'))
    senders.push({ name, drafted, isSponsored })
  }
  return senders
}

/** Milliseconds after the day's begin at which operations come. */
function arrivalsOf({ below }: Random): number[] {
  const arrivals: number[] = []
  let begin = 0
  for (const { minutes, perSecond } of phases) {
    const end = begin + minutes * MINUTE
    if (perSecond > 0)
      for (let at = begin; at < end; ) {
        at += (-Math.log(1 - below(2 ** 30) / 2 ** 30) / perSecond) * 1_000
        if (at < end) arrivals.push(at)
      }
    begin = end
  }
  return arrivals
}

/** What was bundled, by the chain's own receipts: wei that it cost, and that its operations paid. */
async function settled(newest: bigint) {
  const rows = await bundling()
    .database.selectFrom('bundles')
    .select(['state', 'cost', 'transaction_hash'])
    .where('chain_id', '=', BigInt(bundling().chainId))
    .where('kind', '=', 'operations')
    .where('id', '>', newest)
    .execute()
  return Promise.all(
    rows.map(async ({ state, cost, transaction_hash: hash }) => {
      const receipt = await bundling().tester.getTransactionReceipt({ hash: hash! })
      const logs = receipt.logs.map((log) => ({ ...log, address: lower(log.address) }))
      const outcomes = chain().entryPoint.decodeOutcomes(logs)
      const paid = outcomes.reduce((sum, { actualGasCost }) => sum + actualGasCost, 0n)
      expect([state, cost]).toEqual(['included', receipt.gasUsed * receipt.effectiveGasPrice])
      const worth = receipt.gasUsed * (baseFee + fees.maxPriorityFeePerGas)
      return { transactionHash: hash!, cost: cost!, worth, paid, operations: outcomes.length }
    }),
  )
}

function percentAbove(cost: bigint, wei: bigint): number {
  return Number(((wei - cost) * 1_000n) / cost) / 10
}

const days = [
  ['every payer', 'users pay far less than for bundles of one'],
  ['own tank', 'with what is returned to it the tank pays 5 % above its share at most'],
] as const
test.each(days)('over a day of %s no bundle costs more than it is paid, and %s', async (payers) => {
  const { database } = bundling()
  const [{ newest }] = (
    await sql<{ newest: bigint }>`
    select coalesce(max(id), 0) as newest from bundles`.execute(database)
  ).rows as [{ newest: bigint }]
  const random = createRandom(24)
  const senders = await createSenders(payers)
  await bundling().tester.setAutomine(false)
  vi.useFakeTimers({ toFake: ['Date'] })
  // The day before has left the chain's clock ahead of ours.
  const { timestamp } = await bundling().heads.refresh()
  const now = Math.max(Date.now(), timestamp * 1_000)
  const begin = Math.ceil(now / BLOCK_TIME + 1) * BLOCK_TIME
  vi.setSystemTime(begin)
  const sizeWatch = createSizeWatch({ ...bundling().context, now: () => Date.now() })
  const context = { ...bundling().context, sizeWatch }
  const executor = bundling().executors[0]!.address
  const before = await bundling().balanceOf(executor)

  const pending = new Map<Hex, number>()
  const figures = { shared: 0, repriced: 0, saved: 0n, waits: [] as number[] }
  let count = 0

  /** An operation that comes at this time, by the estimate of the moment. */
  const come = async (at: number): Promise<void> => {
    vi.setSystemTime(at)
    const { name, drafted, isSponsored } = senders[count % SENDERS]!
    const op = { ...drafted, nonce: BigInt(++count) << 64n }
    await bundling().services.sizes.newest(chain().entryPoint.address)
    const stub = isSponsored ? await chain().sponsor(op, tank) : op
    const gas = await bundling().estimate(chain().entryPoint, { ...stub, ...unsetGas, ...fees })
    const limited = { ...complete(op, gas), ...fees }
    const paid = isSponsored ? await chain().sponsor(limited, tank) : limited
    const hash = await bundling().admit(await chain().sign(paid, name), chain().entryPoint)
    const received = { received_at: new Date(at) }
    await database.updateTable('operations').set(received).where('hash', '=', hash).execute()
    pending.set(hash, at)
    const alone = preVerificationBounds(gas).most - gas.preVerificationGas
    figures.saved += alone * (baseFee + fees.maxPriorityFeePerGas)
    if (alone > 0n) figures.shared++
  }

  /** A block, and a round of the bundler at it. */
  const turn = async (at: number): Promise<void> => {
    vi.setSystemTime(at)
    await bundling().tester.setNextBlockTimestamp({ timestamp: BigInt(at / 1_000) })
    await bundling().tester.setNextBlockBaseFeePerGas({ baseFeePerGas: baseFee })
    await bundling().tester.mine({ blocks: 1 })
    const followed = (await followChain(context, await bundling().heads.refresh()))!
    await sendBundles(context, followed, { turn: 0, freshHead: true })
    await sizeWatch.store(followed.head)
    for (const [hash, arrived] of pending) {
      const { state, reasonCode } = await bundling().stored(hash)
      if (state === 'pooled') continue
      pending.delete(hash)
      figures.waits.push(at - arrived)
      if (state !== 'dropped') continue
      // Nobody came to share a bundle with: it is priced again.
      expect(reasonCode).toBe('BUNDLE_NOT_SHARED')
      figures.repriced++
      await come(at)
    }
  }

  const arrivals = arrivalsOf(random)
  const end = phases.reduce((sum, { minutes }) => sum + minutes * MINUTE, 3 * WAIT)
  let next = 0
  for (let block = 0; block * BLOCK_TIME <= end; block++) {
    for (; next < arrivals.length && arrivals[next]! <= block * BLOCK_TIME; next++)
      await come(begin + arrivals[next]!)
    await turn(begin + block * BLOCK_TIME)
  }
  expect(pending.size).toBe(0)

  const bundles = await settled(newest)
  for (const { cost, paid } of bundles) expect(paid).toBeGreaterThanOrEqual(cost)
  const sum = (key: 'cost' | 'worth' | 'paid') =>
    bundles.reduce((total, each) => total + each[key], 0n)
  const [cost, paid] = [sum('cost'), sum('paid')]
  expect(await bundling().balanceOf(executor)).toBe(before + paid - cost)
  expect(bundles.reduce((total, { operations }) => total + operations, 0)).toBe(arrivals.length)

  const sorted = figures.waits.sort((one, other) => one - other)
  const { shared, repriced, saved } = figures
  const percent = { paid: percentAbove(cost, paid), paidForOne: percentAbove(cost, paid + saved) }
  const summary = JSON.stringify({ bundles: bundles.length, shared, repriced, percent })
  const known = arrivals.filter((at) => at > KNOWN_AFTER).length
  if (payers === 'own tank') {
    const booked = await database
      .selectFrom('surpluses')
      .select(({ fn }) => fn.sum<bigint>('amount').as('wei'))
      .where('chain_id', '=', BigInt(bundling().chainId))
      .where(
        'transaction_hash',
        'in',
        bundles.map(({ transactionHash }) => transactionHash),
      )
      .executeTakeFirstOrThrow()
    // A twenty-fifth of it is the most that returning it costs.
    const back = (BigInt(booked.wei) * 24n) / 25n
    const above = percentAbove(sum('worth'), paid - back)
    expect(above, summary).toBeLessThanOrEqual(5)
    expect(percentAbove(sum('worth'), paid), summary).toBeGreaterThan(above + 3)
  }
  expect(shared, summary).toBeGreaterThan(known / 2)
  expect(repriced, summary).toBeLessThan(arrivals.length / 50)
  expect(percent.paidForOne - percent.paid, summary).toBeGreaterThan(10)
  expect(sorted.at(-1), summary).toBeLessThanOrEqual(WAIT + BLOCK_TIME)
  expect(sorted[sorted.length >> 1], summary).toBeLessThanOrEqual(BLOCK_TIME)
})
