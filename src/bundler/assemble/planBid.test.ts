import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { smallest } from '../../base/bigints.js'
import type { Fees } from '../../erc4337/fees.js'
import { type BidCandidate, type BidPlan, planBid } from './planBid.js'

const fees: Fees = { maxFeePerGas: 100n, maxPriorityFeePerGas: 10n }

const candidate: BidCandidate<string> = {
  overdue: [],
  fees,
  targetTip: 5n,
  leastTip: 5n,
  tipFloor: 0n,
  pays: () => true,
}

/** Operations that pay for every tip up to `most`. */
function payUpTo(most: bigint): (fees: Fees) => boolean {
  return ({ maxPriorityFeePerGas }) => maxPriorityFeePerGas <= most
}

describe('the bid of a bundle', () => {
  const cheaper = { ...fees, maxPriorityFeePerGas: 7n }
  test.each<[string, Partial<BidCandidate<string>>, BidPlan<string>]>([
    ['is its fees when they are paid', {}, { kind: 'bid', fees }],
    ['is its fees above the least tip too', { targetTip: 10n }, { kind: 'bid', fees }],
    ['is not lowered while its fees are paid', { overdue: ['a'] }, { kind: 'bid', fees }],
    [
      'is tried cheaper when it was assembled for more than the least tip',
      { targetTip: 6n, pays: payUpTo(7n) },
      { kind: 'retryCheaper' },
    ],
    [
      'is tried cheaper before an overdue operation goes or drops',
      { targetTip: 6n, pays: payUpTo(-1n), overdue: ['a'] },
      { kind: 'retryCheaper' },
    ],
    ['waits while no operation is overdue', { pays: payUpTo(7n) }, { kind: 'wait' }],
    ['waits though no tip is paid', { pays: payUpTo(-1n) }, { kind: 'wait' }],
    [
      'is the highest tip that is paid once an operation is overdue',
      { pays: payUpTo(7n), overdue: ['a'] },
      { kind: 'bid', fees: cheaper },
    ],
    [
      'is a tip of zero when only that is paid',
      { pays: payUpTo(0n), overdue: ['a'] },
      { kind: 'bid', fees: { ...fees, maxPriorityFeePerGas: 0n } },
    ],
    [
      'is the least tip that nodes take when only that is paid',
      { tipFloor: 4n, pays: payUpTo(4n), overdue: ['a'] },
      { kind: 'bid', fees: { ...fees, maxPriorityFeePerGas: 4n } },
    ],
    [
      'drops overdue operations that pay less than the least tip that nodes take',
      { tipFloor: 4n, pays: payUpTo(3n), overdue: ['b'] },
      { kind: 'drop', dropped: ['b'] },
    ],
    [
      'drops overdue operations only when no tip is paid',
      { pays: payUpTo(-1n), overdue: ['b'] },
      { kind: 'drop', dropped: ['b'] },
    ],
    [
      'counts a network without tips as cheapest',
      { targetTip: 0n, leastTip: 0n, pays: payUpTo(-1n) },
      { kind: 'wait' },
    ],
  ])('%s', (_, changes, plan) => {
    expect(planBid({ ...candidate, ...changes })).toEqual(plan)
  })

  test('is always paid, never above its fees, and ends after one cheaper attempt', () => {
    const tip = fc.bigInt({ min: 0n, max: 50n })
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.nat(20), { maxLength: 5 }),
        tip,
        tip,
        tip,
        fc.bigInt({ min: -1n, max: 50n }),
        fc.bigInt({ min: 0n, max: 20n }),
        (overdue, maxPriorityFeePerGas, target, least, most, tipFloor) => {
          const [leastTip, targetTip] = target < least ? [target, least] : [least, target]
          const pays = payUpTo(most)
          const bid = { maxFeePerGas: 100n, maxPriorityFeePerGas }
          const bundle = { overdue, fees: bid, tipFloor, pays }
          const first = planBid({ ...bundle, targetTip, leastTip })
          const plan =
            first.kind === 'retryCheaper'
              ? planBid({ ...bundle, targetTip: leastTip, leastTip })
              : first
          expect(first.kind === 'retryCheaper').toBe(
            targetTip > leastTip && maxPriorityFeePerGas > most,
          )
          expect(plan.kind).not.toBe('retryCheaper')
          if (plan.kind === 'bid') {
            expect(pays(plan.fees)).toBe(true)
            expect(plan.fees.maxFeePerGas).toBe(100n)
            const highest = smallest(most, maxPriorityFeePerGas)
            expect(plan.fees.maxPriorityFeePerGas).toBe(highest)
          } else if (plan.kind === 'drop') {
            expect(plan.dropped).toEqual(overdue)
            expect(smallest(most, maxPriorityFeePerGas)).toBeLessThan(tipFloor)
          } else expect(overdue).toEqual([])
        },
      ),
    )
  })
})
