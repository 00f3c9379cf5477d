import fc from 'fast-check'
import { expect, test } from 'vitest'
import { operation } from '../../test/support/tanks/arbitraryOperation.js'
import { createEntryPoint } from '../erc4337/createEntryPoint.js'
import { preVerificationGas } from '../gas/preVerificationGas.js'
import { stubRange, tankStub, withPaymaster } from './sponsoredDraft.js'
import { timeRange } from './sponsorshipTerms.js'

const entryPoint = createEntryPoint('0.7', '0x0000000071727de22e5e9d8baf0edac6f37da032')
const tank = '0x00000000000000000000000000000000000000a7'
const share = { bundleSize: 1, verificationGasUsed: 0n, hasBeneficiary: false, contextSize: 0 }

/** Unix time of our day to the end of the century, the low bytes often zero. */
const time = fc
  .tuple(fc.integer({ min: 1_700_000_000, max: 4_000_000_000 }), fc.constantFrom(1, 256, 65_536))
  .map(([second, unit]) => second - (second % unit))

test('the data of a stub costs at least what the data of any range does that is signed', () => {
  fc.assert(
    fc.property(operation, time, fc.integer({ min: 60, max: 3_600 }), (op, now, duration) => {
      const costOf = (range: typeof stubRange) => {
        const stub = tankStub(tank, range, entryPoint, op, false)
        return preVerificationGas(entryPoint, { ...op, ...withPaymaster(op, stub) } as never, share)
      }
      expect(costOf(stubRange)).toBeGreaterThanOrEqual(costOf(timeRange(now, 0, duration)))
    }),
  )
})
