import fc from 'fast-check'
import { expect, test } from 'vitest'
import { firstMissing, moneyLeft } from './inSequence.js'

test('every nonce between the chain and the operation must be pending', () => {
  const pending = [{ nonce: 3n }, { nonce: 4n }, { nonce: 6n }]
  expect(firstMissing(pending, 3n, 5n)).toBeUndefined()
  expect(firstMissing(pending, 3n, 7n)).toBe(5n)
  expect(firstMissing(pending, 2n, 5n)).toBe(2n)
  expect(firstMissing(pending, 5n, 5n)).toBeUndefined()
  expect(firstMissing([], 0n, 2n ** 63n)).toBe(0n)
})

test('what is owed is taken from the deposit first and never leaves less than nothing', () => {
  const wei = fc.bigInt({ min: 0n, max: 2n ** 112n - 1n })
  fc.assert(
    fc.property(wei, wei, wei, (owed, deposit, balance) => {
      const left = moneyLeft(owed, { deposit, balance })
      const had = deposit + balance
      expect(left.deposit + left.balance).toBe(had > owed ? had - owed : 0n)
      expect(left.balance === balance || left.deposit === 0n).toBe(true)
    }),
  )
})
