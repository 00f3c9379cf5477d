import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { arbitraryOperation } from '../../../test/support/operations/arbitraryOperation.js'
import { unusedGasCharge } from '../../../test/support/operations/unusedGasCharge.js'
import { smallest, sum } from '../../base/bigints.js'
import { createEntryPoint } from '../../erc4337/createEntryPoint.js'
import type { EntryPoint, Version } from '../../erc4337/entryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import { highestPrice } from '../../gas/highestPrice.js'
import { cappedGas } from '../../gas/preVerificationGas.js'
import { type Paying, paysForItself } from './assessBundle.js'

const versions: readonly Version[] = ['0.6', '0.7', '0.8', '0.9']
const wei = fc.bigInt({ min: 0n, max: 60n })
function gas(max: bigint) {
  return fc.bigInt({ min: 0n, max })
}
const fees = fc.tuple(wei, wei).map(([tip, more]) => ({
  maxFeePerGas: tip + more,
  maxPriorityFeePerGas: tip,
}))

/** Small numbers, so that what is looked at happens often: prefunds that bind, bundles just covered. */
function payingOf({ version, leastExecutionCharge }: EntryPoint): fc.Arbitrary<Paying> {
  return fc
    .record({
      op: arbitraryOperation(version),
      fees,
      callGasLimit: gas(90_000n),
      verificationGasLimit: gas(90_000n),
      preVerificationGas: gas(60_000n),
    })
    .map(({ op, fees, ...limits }) => {
      const paymasterLimits = { paymasterVerificationGasLimit: 9n, paymasterPostOpGasLimit: 9n }
      const priced = { ...op, ...paymasterLimits, ...limits, ...fees }
      return { op: priced, metered: 5_000n, executionCharge: leastExecutionCharge(priced) }
    })
}

/** wei that the contract takes from an operation that is metered so much gas, `validation` of it before execution. */
function earnedFrom(
  entryPoint: EntryPoint,
  op: Operation,
  { validation, metered, baseFee }: Record<'validation' | 'metered' | 'baseFee', bigint>,
): bigint {
  const unused = unusedGasCharge(entryPoint.version, op, metered - validation)
  const charged = op.preVerificationGas + metered + unused
  return smallest(entryPoint.requiredPrefund(op), charged * entryPoint.gasPrice(op, baseFee))
}

function most(op: Operation, chargeable: bigint) {
  return chargeable + (op.paymaster === undefined ? 25_000n : 50_000n)
}

// Many seeded runs, on a machine that may be busy.
describe.each(versions)('a bundle of EntryPoint v%s', { timeout: 60_000 }, (version) => {
  const entryPoint = createEntryPoint(version, `0x${'ee'.repeat(20)}`)

  test('that pays for itself does so at any base fee and whatever gas is used', () => {
    let covered = 0
    fc.assert(
      fc.property(
        fc.array(payingOf(entryPoint), { minLength: 1, maxLength: 4 }),
        fc.record({ unmetered: gas(90_000n), floor: gas(90_000n) }),
        fees,
        fc.array(fc.record({ baseFee: wei, used: fc.array(fc.nat(100)) }), { minLength: 8 }),
        (paying, cost, bid, cases) => {
          if (!paysForItself({ entryPoint, paying, cost }, bid)) return
          covered++
          for (const { baseFee, used } of cases) {
            if (baseFee > bid.maxFeePerGas) continue
            const price = smallest(bid.maxFeePerGas, baseFee + bid.maxPriorityFeePerGas)
            const metered = paying.map(({ op, metered }, at) => {
              const range = most(op, entryPoint.chargeableGas(op)) - op.preVerificationGas - metered
              return metered + (range * BigInt(used[at] ?? 100)) / 100n
            })
            const earned = paying.map(({ op, metered: validation }, at) =>
              earnedFrom(entryPoint, op, { validation, metered: metered[at]!, baseFee }),
            )
            // EIP-3529: a fifth of the gas comes back at most, and 19,900 of a deposit that was nothing.
            const refunds = paying.map(({ op }, at) =>
              op.paymaster === undefined && metered[at]! >= 35_000n ? 19_900n : 0n,
            )
            const gross = cost.unmetered + sum(metered) + sum(refunds)
            const capped = gross - gross / 5n
            for (const gasUsed of [cost.unmetered + sum(metered), capped, cost.floor]) {
              expect(sum(earned)).toBeGreaterThanOrEqual(gasUsed * price)
            }
          }
        },
      ),
      { numRuns: 800 },
    )
    expect(covered).toBeGreaterThan(40)
  })

  test('on a rollup also pays for its data, at any base fee that may come', () => {
    let covered = 0
    fc.assert(
      fc.property(
        fc.array(payingOf(entryPoint), { minLength: 1, maxLength: 4 }),
        fc.record({ unmetered: gas(60_000n), floor: gas(60_000n) }),
        fc.record({ wei: gas(900_000n), perGas: gas(3n), lowestBaseFee: wei }),
        fees,
        fc.array(fc.record({ above: wei, used: fc.array(fc.nat(100)) }), { minLength: 8 }),
        (paying, cost, terms, bid, cases) => {
          const data = { ...terms, posterGas: 0n, reserve: 0n }
          if (!paysForItself({ entryPoint, paying, cost, data }, bid)) return
          covered++
          for (const { above, used } of cases) {
            const baseFee = data.lowestBaseFee + above
            if (baseFee > bid.maxFeePerGas) continue
            const price = smallest(bid.maxFeePerGas, baseFee + bid.maxPriorityFeePerGas)
            const metered = paying.map(({ op, metered }, at) => {
              const range = most(op, entryPoint.chargeableGas(op)) - op.preVerificationGas - metered
              return metered + (range * BigInt(used[at] ?? 100)) / 100n
            })
            const earned = paying.map(({ op, metered: validation }, at) =>
              earnedFrom(entryPoint, op, { validation, metered: metered[at]!, baseFee }),
            )
            for (const gasUsed of [cost.unmetered + sum(metered), cost.floor]) {
              const owed = gasUsed * (price + data.perGas) + data.wei
              expect(sum(earned)).toBeGreaterThanOrEqual(owed)
            }
          }
        },
      ),
      { numRuns: 1_500 },
    )
    expect(covered).toBeGreaterThan(20)
  })

  test('needs no more than its gas, where its gas costs no more than each operation pays', () => {
    fc.assert(
      fc.property(
        fc.array(payingOf(entryPoint), { minLength: 1, maxLength: 4 }),
        fees,
        (paying, wanted) => {
          const ops = paying.map(({ op }) => op)
          const prepaid = sum(ops.map((op) => op.preVerificationGas))
          const capped =
            5n * prepaid +
            sum(paying.map(({ op, metered }) => cappedGas(entryPoint.gas(), op, metered)))
          const cost = { unmetered: smallest(prepaid, capped / 4n - 1n), floor: prepaid }
          const maxFeePerGas = smallest(
            wanted.maxFeePerGas,
            ...ops.map((op) => highestPrice(entryPoint, op)),
          )
          const tips = ops.map((op) => op.maxPriorityFeePerGas)
          const bid = {
            maxFeePerGas,
            maxPriorityFeePerGas: smallest(maxFeePerGas, wanted.maxPriorityFeePerGas, ...tips),
          }
          expect(paysForItself({ entryPoint, paying, cost }, bid)).toBe(true)
          const unpaid = { ...cost, unmetered: prepaid + 1n + sum(ops.map(surplusGas)) }
          const covered = paysForItself({ entryPoint, paying, cost: unpaid }, bid)
          if (bid.maxFeePerGas > 0n) expect(covered).toBe(false)
        },
      ),
    )
    /** More gas than any margin of these small fees could pay. */
    function surplusGas(op: Operation): bigint {
      return most(op, entryPoint.chargeableGas(op)) * 100n
    }
  })
})
