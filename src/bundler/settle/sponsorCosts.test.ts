import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { LARGEST_SIZE, reachedSize, TRAFFIC_WINDOW } from '../../mempool/bundleSizes.js'
import { rebatesOf } from './sponsorCosts.js'

const SHARED = 32_000n
const SEED = 20_261_123

/** Numbers from 0 to 1 that follow from the seed alone. */
function generator(seed: number): () => number {
  let state = seed
  return () => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return state / 2 ** 32
  }
}

/** Minutes and operations a second: light, medium and heavy traffic, with ends and begins at once. */
const day: readonly (readonly [minutes: number, perSecond: number])[] = [
  [60, 0.05],
  [30, 1.5],
  [20, 12],
  [30, 0.4],
  [40, 5],
  [10, 0],
  [40, 1],
]

type Carried = {
  readonly own: bigint
  readonly gas: bigint
  readonly price: bigint
  readonly sharedBy: number
  readonly isSponsored: boolean
}

/** The bundles of a day with blocks of 2 s: operations of different weight, margin, price and payer. */
function* bundlesOf(random: () => number): Iterable<readonly Carried[]> {
  const block = 2_000
  const known: number[] = []
  let [now, size] = [0, 1]
  let pool: Carried[] = []
  for (const [minutes, perSecond] of day) {
    for (const end = now + minutes * 60_000; now < end; now += block) {
      for (let at = now - Math.log(1 - random()) * (1_000 / perSecond); at < now + block; ) {
        known.push(at)
        const own = 45_000n + BigInt(Math.floor(random() ** 3 * 600_000))
        // preVerificationGas prices checks of validity ranges that most operations do not cause (D-097).
        const margin = BigInt(Math.floor(300 + random() * 700))
        const gas = own + margin + SHARED / BigInt(size)
        const price = 1_000_000_000n + BigInt(Math.floor(random() * 50))
        pool.push({ own, gas, price, sharedBy: size, isSponsored: random() < 0.7 })
        at -= Math.log(1 - random()) * (1_000 / perSecond)
      }
      while ((known[0] ?? now) < now - TRAFFIC_WINDOW) known.shift()
      if (now % 5_000 < block)
        size = reachedSize({ arrivals: known, since: 0, blockTime: block }, now, 10_000)
      const shares = pool.reduce((sum, { sharedBy }) => sum + 1 / sharedBy, 0)
      if (shares < 1) continue
      yield pool
      pool = []
    }
  }
}

test('through a day of any traffic who pays by credit pays its share within 5 %, and no bundle loses', () => {
  const worst = { rebated: 0, charged: 0 }
  const seen = new Set<number>()
  const sizes = new Set<number>()
  for (const bundle of bundlesOf(generator(SEED))) {
    const size = BigInt(bundle.length)
    const cost = (SHARED + bundle.reduce((sum, { own }) => sum + own, 0n)) * 1_000_000_000n
    const rebates = rebatesOf(bundle, { shared: SHARED, cost })
    let kept = 0n
    for (const [at, { own, gas, price, isSponsored, sharedBy }] of bundle.entries()) {
      const share = Number((own + SHARED / size) * price)
      const pays = gas * price - (isSponsored ? (rebates[at] ?? 0n) : 0n)
      kept += pays
      sizes.add(sharedBy)
      worst.charged = Math.max(worst.charged, Number(gas * price) / share)
      if (!isSponsored) continue
      worst.rebated = Math.max(worst.rebated, Number(pays) / share)
      // Who paid for more than came owes less than its share; others cover that, and no rebate adds to it.
      if (sharedBy > bundle.length) expect(rebates[at]).toBe(0n)
      else expect(Number(pays) / share, `seed ${SEED}`).toBeGreaterThan(0.999)
    }
    expect(kept, `seed ${SEED}`).toBeGreaterThanOrEqual(cost)
    seen.add(bundle.length)
  }
  expect(worst.rebated).toBeLessThan(1.05)
  // Without a rebate the same day charges a half more than its share.
  expect(worst.charged).toBeGreaterThan(1.4)
  expect(Math.min(...seen)).toBe(1)
  expect(Math.max(...seen)).toBeGreaterThan(20)
  expect(Math.max(...sizes)).toBe(LARGEST_SIZE)
})

describe('rebates', () => {
  const charge = fc.record({
    gas: fc.bigInt({ min: 0n, max: 1_000_000n }),
    price: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    sharedBy: fc.option(fc.integer({ min: 1, max: 12 }), { nil: undefined }),
  })

  test('are never negative, and together never more than what the bundle was charged above its cost', () => {
    fc.assert(
      fc.property(
        fc.array(charge, { minLength: 1, maxLength: 30 }),
        fc.bigInt({ min: 0n, max: 10n ** 19n }),
        (charges, cost) => {
          const rebates = rebatesOf(charges, { shared: SHARED, cost })
          const charged = charges.reduce((sum, { gas, price }) => sum + gas * price, 0n)
          const surplus = charged > cost ? charged - cost : 0n
          expect(rebates).toHaveLength(charges.length)
          expect(rebates.every((each) => each >= 0n)).toBe(true)
          expect(rebates.reduce((sum, each) => sum + each, 0n)).toBeLessThanOrEqual(surplus)
        },
      ),
      { numRuns: 2_000 },
    )
  })

  test('are nothing alone, and nothing for whom the bundle is as large as it paid for', () => {
    const paying = (sharedBy: number) => ({ gas: 100_000n, price: 10n, sharedBy })
    expect(rebatesOf([paying(1)], { shared: SHARED, cost: 0n })).toEqual([0n])
    expect(rebatesOf([paying(2), paying(1)], { shared: SHARED, cost: 0n })).toEqual([0n, 160_000n])
    expect(rebatesOf([paying(5), paying(1)], { shared: SHARED, cost: 0n })).toEqual([0n, 160_000n])
  })
})
