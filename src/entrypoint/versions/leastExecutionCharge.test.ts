import fc from 'fast-check'
import { expect, test } from 'vitest'
import { arbitraryOperation } from '../../../test/support/operations/arbitraryOperation.js'
import { unusedGasCharge } from '../../../test/support/operations/unusedGasCharge.js'
import { createEntryPoint } from '../createEntryPoint.js'
import { versions } from '../versionFacts.js'

const gas = fc.bigInt({ min: 0n, max: 200_000n })

test.each(versions)(
  'v%s charges no less for execution, whatever that uses, and as little where it uses nothing or leaves 40,000',
  (version) => {
    const entryPoint = createEntryPoint(version, `0x${'ee'.repeat(20)}`)
    fc.assert(
      fc.property(arbitraryOperation(version), gas, gas, gas, (any, call, postOp, used) => {
        const op = { ...any, callGasLimit: call, paymasterPostOpGasLimit: postOp }
        const charged = (used: bigint) => used + unusedGasCharge(version, op, used)
        const least = entryPoint.leastExecutionCharge(op)
        expect(charged(used)).toBeGreaterThanOrEqual(least)
        const leaving = call > 40_000n ? call - 40_000n : 0n
        expect([charged(0n), charged(leaving)]).toContain(least)
      }),
    )
  },
)
