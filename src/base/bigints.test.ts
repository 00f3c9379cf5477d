import fc from 'fast-check'
import { expect, test } from 'vitest'
import { compareBigints, greatest, smallest, sum } from './bigints.js'

const values = fc.array(fc.bigInt(), { minLength: 1 })

test('smallest and greatest are the ends of the sorted values', () => {
  fc.assert(
    fc.property(values, (all) => {
      const [first = 0n, ...others] = all
      const sorted = [...all].sort(compareBigints)
      expect(smallest(first, ...others)).toBe(sorted[0])
      expect(greatest(first, ...others)).toBe(sorted.at(-1))
      expect(sorted.every((value, i) => i === 0 || sorted[i - 1]! <= value)).toBe(true)
    }),
  )
})

test.each([
  [[], 0n],
  [[-3n], -3n],
  [[2n ** 96n, 1n, -2n], 2n ** 96n - 1n],
])('the sum of %s is %s', (addends, total) => {
  expect(sum(addends)).toBe(total)
})
