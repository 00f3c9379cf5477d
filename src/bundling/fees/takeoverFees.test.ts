import fc from 'fast-check'
import { expect, test } from 'vitest'
import { takeoverFees } from './takeoverFees.js'

const fees = fc
  .tuple(fc.bigInt({ min: 0n, max: 10n ** 13n }), fc.bigInt({ min: 0n, max: 10n ** 13n }))
  .map(([a, b]) =>
    a < b
      ? { maxFeePerGas: b, maxPriorityFeePerGas: a }
      : { maxFeePerGas: a, maxPriorityFeePerGas: b },
  )

test('both fees rise by 12.5 % at least, reach the advice, and stay a valid pair', () => {
  fc.assert(
    fc.property(fees, fees, (previous, fast) => {
      const raised = takeoverFees(previous, fast)
      for (const fee of ['maxFeePerGas', 'maxPriorityFeePerGas'] as const) {
        expect(raised[fee]).toBeGreaterThan(previous[fee])
        expect(raised[fee] * 8n).toBeGreaterThanOrEqual(previous[fee] * 9n)
        expect(raised[fee]).toBeGreaterThanOrEqual(fast[fee])
      }
      expect(raised.maxPriorityFeePerGas).toBeLessThanOrEqual(raised.maxFeePerGas)
    }),
  )
})
