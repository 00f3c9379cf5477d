import fc from 'fast-check'
import { type Address, numberToHex } from 'viem'
import { expect, test } from 'vitest'
import { planRefills } from './planRefills.js'

function address(index: number): Address {
  return numberToHex(index + 1, { size: 20 })
}
const base = {
  underway: new Set<Address>(),
  transferCost: 1n,
  refillBelow: 50n,
  refillTo: 100n,
  most: 4,
}
function executors(...balances: bigint[]) {
  return balances.map((balance, i) => ({ address: address(i), balance }))
}

test('the poorest is filled up first; who has enough or a refill on its way gets none', () => {
  const underway = new Set([address(3)])
  const means = { ...base, executors: executors(40n, 10n, 50n, 0n), underway, available: 1_000n }
  expect(planRefills(means)).toEqual({
    refills: [
      { to: address(1), value: 90n },
      { to: address(0), value: 60n },
    ],
    unserved: [],
  })
})

test('a short treasury gives what is left if that helps, else names who goes without', () => {
  const means = { ...base, executors: executors(10n, 20n), available: 120n }
  expect(planRefills(means)).toEqual({
    refills: [{ to: address(0), value: 90n }],
    unserved: [address(1)],
  })
  expect(planRefills({ ...means, available: 130n }).refills[1]).toEqual({
    to: address(1),
    value: 38n,
  })
})

test('a treasury never spends what it has not, and lifts whom it pays', () => {
  const wei = fc.bigInt({ min: 0n, max: 200n })
  fc.assert(
    fc.property(
      fc.array(wei, { maxLength: 8 }),
      fc.bigInt({ min: 0n, max: 600n }),
      (all, available) => {
        const { refills, unserved } = planRefills({
          ...base,
          executors: executors(...all),
          available,
        })
        const spent = refills.reduce((sum, { value }) => sum + value + base.transferCost, 0n)
        expect(spent).toBeLessThanOrEqual(available)
        expect(refills.length).toBeLessThanOrEqual(base.most)
        for (const { to, value } of refills) {
          const before = all[Number(BigInt(to)) - 1]!
          expect(before).toBeLessThan(base.refillBelow)
          expect(before + value).toBeGreaterThanOrEqual(base.refillBelow)
          expect(before + value).toBeLessThanOrEqual(base.refillTo)
        }
        const served = new Set([...refills.map(({ to }) => to), ...unserved])
        expect(served.size).toBe(refills.length + unserved.length)
      },
    ),
  )
})
