import fc from 'fast-check'
import { expect, test } from 'vitest'
import { checkFees } from './checkFees.js'

const limits = { feeFloor: 1_000n }
const most = { maxFeePerGas: 10_000n, maxPriorityFeePerGas: 10n }

test('the most that is advised passes, one wei more does not', () => {
  expect(
    checkFees({ maxFeePerGas: 10_000n, maxPriorityFeePerGas: 0n }, most, limits),
  ).toBeUndefined()
  const refusal = checkFees({ maxFeePerGas: 10_001n, maxPriorityFeePerGas: 0n }, most, limits)
  expect(refusal?.code).toBe('FEE_TOO_HIGH')
  expect(refusal?.message).toMatch(/maxFeePerGas is 10001 wei.* 10000 wei now/)
})

test('the priority fee is bounded for itself, above the floor', () => {
  const priority = (maxPriorityFeePerGas: bigint) =>
    checkFees({ maxFeePerGas: 9_000n, maxPriorityFeePerGas }, most, limits)
  expect(priority(1_000n)).toBeUndefined()
  expect(priority(1_001n)?.message).toMatch(/maxPriorityFeePerGas is 1001 wei/)
})

test('no passing operation bids more than the larger of floor and bound', () => {
  const fees = fc.record({
    maxFeePerGas: fc.bigInt({ min: 0n, max: 20_000n }),
    maxPriorityFeePerGas: fc.bigInt({ min: 0n, max: 20_000n }),
  })
  fc.assert(
    fc.property(fees, fees, (bid, bound) => {
      const within = (field: 'maxFeePerGas' | 'maxPriorityFeePerGas') =>
        bid[field] <= limits.feeFloor || bid[field] <= bound[field]
      const passes = checkFees(bid, bound, limits) === undefined
      expect(passes).toBe(within('maxFeePerGas') && within('maxPriorityFeePerGas'))
    }),
  )
})
