import fc from 'fast-check'
import { type Address, numberToHex } from 'viem'
import { expect, test } from 'vitest'
import { planRefills } from './refillExecutors.js'

function address(index: number): Address {
  return numberToHex(index + 1, { size: 20 })
}
const base = {
  inFlight: new Set<Address>(),
  transferCost: 1n,
  refillBelow: 50n,
  refillTo: 100n,
  maxRefills: 4,
}
function executors(...balances: bigint[]) {
  return balances.map((balance, i) => ({ address: address(i), balance }))
}

test('the poorest is filled up first; who has enough or a refill on its way gets none', () => {
  const inFlight = new Set([address(3)])
  const conditions = {
    ...base,
    executors: executors(40n, 10n, 50n, 0n),
    inFlight,
    available: 1_000n,
  }
  expect(planRefills(conditions)).toEqual({
    refills: [
      { to: address(1), value: 90n },
      { to: address(0), value: 60n },
    ],
    unserved: [],
  })
})

test('a short treasury gives what is left if that helps, else names who goes without', () => {
  const conditions = { ...base, executors: executors(10n, 20n), available: 120n }
  expect(planRefills(conditions)).toEqual({
    refills: [{ to: address(0), value: 90n }],
    unserved: [address(1)],
  })
  expect(planRefills({ ...conditions, available: 130n }).refills[1]).toEqual({
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
        expect(refills.length).toBeLessThanOrEqual(base.maxRefills)
        for (const { to, value } of refills) {
          const executor = all[Number(BigInt(to)) - 1]!
          expect(executor).toBeLessThan(base.refillBelow)
          expect(executor + value).toBeGreaterThanOrEqual(base.refillBelow)
          expect(executor + value).toBeLessThanOrEqual(base.refillTo)
        }
        const served = new Set([...refills.map(({ to }) => to), ...unserved])
        expect(served.size).toBe(refills.length + unserved.length)
      },
    ),
  )
})
