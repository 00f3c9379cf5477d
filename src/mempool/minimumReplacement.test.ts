import fc from 'fast-check'
import { expect, test } from 'vitest'
import { minimumReplacement } from './minimumReplacement.js'

const fee = fc.bigInt({ min: 0n, max: 2n ** 120n - 1n })

test('the required fees are the least integers that are 10 % higher, and higher by at least 1 wei', () => {
  fc.assert(
    fc.property(fee, fee, (maxFeePerGas, maxPriorityFeePerGas) => {
      const pooled = { maxFeePerGas, maxPriorityFeePerGas }
      const required = minimumReplacement(pooled)
      for (const field of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
        const enough = (offer: bigint) =>
          offer > pooled[field] && offer * 10n >= pooled[field] * 11n
        expect(enough(required[field])).toBe(true)
        expect(enough(required[field] - 1n)).toBe(false)
      }
    }),
  )
})

test('10 % of an odd fee is rounded up', () => {
  expect(minimumReplacement({ maxFeePerGas: 101n, maxPriorityFeePerGas: 1n })).toEqual({
    maxFeePerGas: 112n,
    maxPriorityFeePerGas: 2n,
  })
})
