import fc from 'fast-check'
import { expect, test } from 'vitest'
import { isUnderCeiling, underCeiling } from './feeCeiling.js'

const wei = fc.bigInt({ min: 0n, max: 10n ** 13n })
const fees = fc.record({ maxFeePerGas: wei, maxPriorityFeePerGas: wei })
const ceilings = fc.record({
  maxFeePerGas: fc.option(wei, { nil: undefined }),
  maxPriorityFeePerGas: fc.option(wei, { nil: undefined }),
})

test('lowered fees are under the ceiling, never above what they were, with a tip within the fee', () => {
  fc.assert(
    fc.property(fees, ceilings, (given, feeCeiling) => {
      const lowered = underCeiling({ feeCeiling }, given)
      expect(isUnderCeiling({ feeCeiling }, lowered)).toBe(true)
      expect(lowered.maxFeePerGas).toBeLessThanOrEqual(given.maxFeePerGas)
      expect(lowered.maxPriorityFeePerGas).toBeLessThanOrEqual(given.maxPriorityFeePerGas)
      expect(lowered.maxPriorityFeePerGas).toBeLessThanOrEqual(lowered.maxFeePerGas)
    }),
  )
})

test('without a ceiling every fee is under it, also a tip above the maximum fee', () => {
  const none = { maxFeePerGas: undefined, maxPriorityFeePerGas: undefined }
  fc.assert(fc.property(fees, (given) => isUnderCeiling({ feeCeiling: none }, given)))
})
