import { inspect } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRandom } from '../evm/random.js'
import { createAdversary } from '../support/adversary/attack.js'
import { type Battlefield, openBattlefield } from '../support/adversary/battlefield.js'
import { type HonestOperation, runHonestUser } from '../support/adversary/honestUser.js'
import { compareBooks, executorWealth } from '../support/adversary/compareBooks.js'
import { measureMachineLag } from '../support/machineLag.js'
import { until } from '../support/until.js'

/*
 * An adversary with contracts that behave differently by place and time, and honest users at the same time. How many
 * moves it makes, and from which seed, `npm run test:adversary` sets.
 */

const seed = Number(process.env.PURSER_ADVERSARY_SEED ?? 4_337)
const isLong = process.env.PURSER_ADVERSARY === 'full'
const moves = Number(process.env.PURSER_ADVERSARY_MOVES ?? (isLong ? 3_000 : 250))

/**
 * Blocks that an honest operation may wait for its own: a bundle needs one or two, another attempt as many. Blocks come by
 * the clock, so next to other tests the number says how busy the machine is; it counts in the long form, which runs alone.
 */
const MOST_BLOCKS = 12
const MEGABYTE = 2 ** 20
/** Refused sponsorships of an app that are kept in ten seconds; there are two apps. */
const KEPT_REFUSALS = 50

let field: Battlefield
beforeAll(async () => {
  field = await openBattlefield()
})
afterAll(() => field?.stop())

test(`nobody but the adversary pays (seed ${seed})`, { timeout: 3_600_000 }, async () => {
  const random = createRandom(seed)
  const adversary = createAdversary(field, random)
  const begin = performance.now()
  await adversary.prepare()
  const before = await executorWealth(field)
  let isOver = false
  const lags: { readonly service: number; readonly machine: number }[] = []
  const machine = measureMachineLag()
  const attack = async (): Promise<void> => {
    try {
      for (let made = 1; made <= moves && !isOver; made++) {
        await adversary.act()
        if (made % 50 === 0) {
          const service = await field.metric('nodejs_eventloop_lag_p99_seconds')
          lags.push({ service, machine: await machine.p99() })
        }
      }
    } finally {
      isOver = true
    }
  }
  const beHonest = async (): Promise<HonestOperation[]> => {
    const users = field.entryPoints.map(({ version }) =>
      runHonestUser(field, version, () => isOver),
    )
    try {
      return (await Promise.all(users)).flat()
    } finally {
      isOver = true
    }
  }
  const [operations] = await Promise.all([beHonest(), attack()])
  await machine.stop()
  const memory = await field.metric('process_resident_memory_bytes')
  const uncovered = ['charge', 'books'].map((kind) =>
    field.metric(`purser_bundles_uncovered_total\\{[^}]*kind="${kind}"[^}]*\\}`),
  )
  // What cannot be included waits on in the pool; what is mined is booked a moment later.
  const books = await until(async () => {
    const compared = await compareBooks(field)
    const { contradictions, tanks } = compared
    return contradictions.length === 0 && tanks.chain === tanks.ledger && compared
  })
  const gained = (await executorWealth(field)) - before
  const summary = {
    seed,
    moves,
    honest: operations.length,
    mostBlocks: Math.max(...operations.map(({ blocks }) => blocks)),
    lagP99: lags
      .map(({ service, machine }) => `${inMs(service)} of ${inMs(machine)} ms`)
      .join(', '),
    memory: `${Math.round(memory / MEGABYTE)} MB`,
    gained: `${gained} wei`,
    ...books,
    answers: Object.fromEntries([...adversary.tally].sort()),
  }
  process.stdout.write(`${inspect(summary)}\n`)
  expect(adversary.internal).toEqual([])
  const windows = Math.ceil((performance.now() - begin) / 10_000) + 1
  expect(books.refused).toBeLessThanOrEqual(2 * KEPT_REFUSALS * windows)
  expect(await Promise.all(uncovered), 'bundles that lost wei, or are in no book').toEqual([0, 0])
  expect(operations.every(({ success }) => success)).toBe(true)
  expect(operations.length).toBeGreaterThan(field.entryPoints.length)
  if (isLong) expect(summary.mostBlocks).toBeLessThanOrEqual(MOST_BLOCKS)
  expect(gained).toBeGreaterThanOrEqual(0n)
  expect(memory).toBeLessThan(1_024 * MEGABYTE)
  // An idle thread of the machine lags too, where other programs keep its cores.
  const ownLags = lags.map(({ service, machine }) => service - machine)
  if (isLong) expect(Math.max(...ownLags)).toBeLessThanOrEqual(0.05)
})

function inMs(seconds: number): number {
  return Math.round(seconds * 1_000)
}
