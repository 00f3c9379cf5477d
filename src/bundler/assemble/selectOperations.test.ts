import fc from 'fast-check'
import { type Address, numberToHex, parseGwei } from 'viem'
import { expect, test } from 'vitest'
import { smallest } from '../../base/bigints.js'
import { createEntryPoint } from '../../erc4337/createEntryPoint.js'
import type { Operation } from '../../erc4337/operation.js'
import { assuredTip } from '../fees/bundleFees.js'
import { bundleGasLimit, carriedOperation } from '../fees/pricedOperation.js'
import { MAX_ATTEMPTS, retryGroupSize } from '../outbox/outbox.js'
import { aloneGas, type Selection, selectOperations } from './selectOperations.js'
import { plainOperation } from '../../../test/support/operations/plainOperation.js'

const entryPoint = createEntryPoint('0.6', `0x${'ee'.repeat(20)}`)
const beneficiary: Address = `0x${'be'.repeat(20)}`
function gwei(amount: number): bigint {
  return parseGwei(String(amount))
}

function operation(sender: number, fields: Partial<Operation>): Operation {
  return plainOperation({
    sender: numberToHex(sender, { size: 20 }),
    callGasLimit: 50_000n,
    verificationGasLimit: 100_000n,
    maxFeePerGas: gwei(10),
    maxPriorityFeePerGas: gwei(1),
    ...fields,
  })
}

function candidate(sender: number, fields: Partial<Operation> = {}, attempts = 0, age = 0) {
  return {
    appId: 'app',
    operation: operation(sender, fields),
    bid: operation(sender, fields),
    attempts,
    receivedAt: new Date(1_000_000 - age),
    firstValidation: undefined,
  }
}

const selection: Selection = {
  entryPoint,
  baseFee: gwei(1),
  target: { maxFeePerGas: gwei(3), maxPriorityFeePerGas: gwei(1) },
  leastTip: gwei(0.5),
  limits: { gas: 16_000_000n, bytes: 100_000, operations: 20 },
}

const anyCandidate = fc
  .record({
    sender: fc.integer({ min: 1, max: 8 }),
    maxFeePerGas: fc.bigInt({ min: 0n, max: gwei(6) }),
    maxPriorityFeePerGas: fc.bigInt({ min: 0n, max: gwei(3) }),
    callGasLimit: fc.bigInt({ min: 0n, max: 6_000_000n }),
    callDataBytes: fc.integer({ min: 0, max: 40_000 }),
    attempts: fc.constantFrom(0, 0, 0, 1, 2, 3, 4),
    age: fc.nat(1_000),
  })
  .map(({ sender, attempts, age, callDataBytes, ...fees }) =>
    candidate(sender, { ...fees, callData: `0x${'ab'.repeat(callDataBytes)}` }, attempts, age),
  )

test('a selection keeps every rule, whatever the pool holds', () => {
  fc.assert(
    fc.property(fc.array(anyCandidate, { maxLength: 25 }), (pool) => {
      const chosen = selectOperations(pool, selection)
      const ops = chosen.map((each) => each.operation)
      const { baseFee, leastTip, limits } = selection
      const able = pool.filter(
        (each) => assuredTip(entryPoint, each.operation, baseFee) >= leastTip,
      )
      if (able.length === 0) {
        expect(chosen).toEqual([])
        return
      }

      const best = able.map((each) => assuredTip(entryPoint, each.operation, baseFee))
      expect(best.every((tip) => tip <= assuredTip(entryPoint, ops[0]!, baseFee))).toBe(true)
      expect(new Set(ops.map(({ sender }) => sender)).size).toBe(ops.length)
      const failures = chosen.map(({ attempts }) => attempts)
      expect(new Set(failures).size).toBe(1)
      expect(chosen.length).toBeLessThanOrEqual(retryGroupSize(failures[0]!))
      if (chosen.length > 1) {
        const data = entryPoint.encodeHandleOps(ops, beneficiary)
        expect(bundleGasLimit(entryPoint, chosen.map(carriedOperation), data)).toBeLessThanOrEqual(
          limits.gas,
        )
        expect(data.length / 2).toBeLessThanOrEqual(limits.bytes)
      }
      const tip = smallest(
        assuredTip(entryPoint, ops[0]!, baseFee),
        selection.target.maxPriorityFeePerGas,
      )
      for (const op of ops) expect(assuredTip(entryPoint, op, baseFee)).toBeGreaterThanOrEqual(tip)
    }),
  )
})

test('the highest effective tip goes first, then the oldest', () => {
  const pool = [
    candidate(1, { maxPriorityFeePerGas: gwei(1) }, 0, 5),
    candidate(2, { maxPriorityFeePerGas: gwei(2) }),
    candidate(3, { maxPriorityFeePerGas: gwei(1) }, 0, 9),
    candidate(4, { maxPriorityFeePerGas: gwei(9), maxFeePerGas: gwei(2.5) }),
  ]
  expect(selectOperations(pool, selection)).toEqual([pool[1], pool[3], pool[2], pool[0]])
})

test('who pays less than the bundle does not join it, but goes alone when nobody pays more', () => {
  const poor = candidate(1, { maxPriorityFeePerGas: gwei(0.6) })
  const rich = candidate(2, { maxPriorityFeePerGas: gwei(2) })
  expect(selectOperations([poor, rich], selection)).toEqual([rich])
  expect(selectOperations([poor], selection)).toEqual([poor])
})

test('who cannot pay the base fee and the least tip waits', () => {
  const pool = [candidate(1, { maxFeePerGas: gwei(1.4) })]
  expect(selectOperations(pool, selection)).toEqual([])
})

test('operations to retry go among themselves, in smaller bundles with each failure, at last alone', () => {
  const limits = { ...selection.limits, operations: 250 }
  const sizes = [0, 1, 2, 3, 4].map((attempts) => {
    const retried = Array.from({ length: 60 }, (_, sender) =>
      candidate(sender, { maxPriorityFeePerGas: gwei(2) }, attempts),
    )
    const others = [0, 1, 2, 3, 4].map((each) => candidate(100 + each, {}, each))
    return selectOperations([...others, ...retried], { ...selection, limits }).length
  })
  expect(sizes.slice(1)).toEqual([32, 4, 1, 1])
  expect(sizes[0]).toBeGreaterThan(32)
})

test('separating any culprit from 250 takes at most 22 further bundles, 5 of which fail', () => {
  fc.assert(
    fc.property(fc.nat(249), (culprit) => {
      let pool = Array.from({ length: 250 }, (_, index) => ({ index, attempts: 0 }))
      let bundles = 0
      let failed = 0
      while (pool.length > 0) {
        const { attempts } = pool[0]!
        const bundle = pool
          .filter((each) => each.attempts === attempts)
          .slice(0, retryGroupSize(attempts))
        bundles += 1
        const fails = bundle.some(({ index }) => index === culprit)
        failed += fails ? 1 : 0
        pool = pool.filter((each) => !bundle.includes(each))
        const again = bundle.map((each) => ({ ...each, attempts: each.attempts + 1 }))
        if (fails) pool = [...again.filter((each) => each.attempts < MAX_ATTEMPTS), ...pool]
      }
      expect(failed).toBe(MAX_ATTEMPTS)
      expect(bundles - 1).toBeLessThanOrEqual(22)
    }),
  )
})

test('apps take turns, so that one with many operations does not fill a bundle', () => {
  const many = Array.from({ length: 30 }, (_, index) => candidate(index + 1))
  const other = { ...candidate(100, { maxFeePerGas: gwei(9) }), appId: 'other' }
  const chosen = selectOperations([...many, other], selection)
  expect(chosen).toHaveLength(selection.limits.operations)
  expect(chosen[1]).toBe(other)
})

test('what costs more alone than may be spent holds up nobody, whatever it pays or however often it failed', () => {
  const best = { maxFeePerGas: gwei(90), maxPriorityFeePerGas: gwei(90), callGasLimit: 20_000_000n }
  const large = [candidate(1, best), candidate(2, best, 1)]
  const poor = candidate(3, { maxPriorityFeePerGas: gwei(0.6) })
  expect(selectOperations([...large, poor], selection)).toEqual([large[0]])
  const affordable = [...large, poor].filter(
    (each) => aloneGas(entryPoint, each) <= selection.limits.gas,
  )
  expect(selectOperations(affordable, selection)).toEqual([poor])
})
