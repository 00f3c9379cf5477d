import fc from 'fast-check'
import { type Address, numberToHex, parseGwei } from 'viem'
import { expect, test } from 'vitest'
import { createEntryPoint } from '../entrypoint/index.js'
import type { Operation } from '../entrypoint/operation.js'
import { effectiveTip } from './bundleFees.js'
import { bundleGasLimit } from './bundleGas.js'
import { least } from './least.js'
import { type Selection, selectOperations } from './selectOperations.js'

const entryPoint = createEntryPoint('0.6', `0x${'ee'.repeat(20)}`)
const beneficiary: Address = `0x${'be'.repeat(20)}`
const gwei = (amount: number): bigint => parseGwei(String(amount))

const operation = (sender: number, fields: Partial<Operation>): Operation => ({
  sender: numberToHex(sender, { size: 20 }),
  nonce: 0n,
  factory: undefined,
  factoryData: '0x',
  callData: '0x',
  callGasLimit: 50_000n,
  verificationGasLimit: 100_000n,
  preVerificationGas: 50_000n,
  maxFeePerGas: gwei(10),
  maxPriorityFeePerGas: gwei(1),
  paymaster: undefined,
  paymasterVerificationGasLimit: 0n,
  paymasterPostOpGasLimit: 0n,
  paymasterData: '0x',
  signature: '0x01',
  authorization: undefined,
  ...fields,
})

const candidate = (sender: number, fields: Partial<Operation> = {}, attempts = 0, age = 0) => ({
  operation: operation(sender, fields),
  attempts,
  receivedAt: new Date(1_000_000 - age),
})

const selection: Selection = {
  entryPoint,
  baseFee: gwei(1),
  network: { maxFeePerGas: gwei(3), maxPriorityFeePerGas: gwei(1) },
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
    attempts: fc.constantFrom(0, 0, 0, 1),
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
      const able = pool.filter((each) => effectiveTip(each.operation, baseFee) >= leastTip)
      if (able.length === 0) {
        expect(chosen).toEqual([])
        return
      }

      const best = able.map((each) => effectiveTip(each.operation, baseFee))
      expect(best.every((tip) => tip <= effectiveTip(ops[0]!, baseFee))).toBe(true)
      expect(new Set(ops.map(({ sender }) => sender)).size).toBe(ops.length)
      if (chosen.some(({ attempts }) => attempts > 0)) expect(chosen).toHaveLength(1)
      if (chosen.length > 1) {
        const data = entryPoint.encodeHandleOps(ops, beneficiary)
        expect(bundleGasLimit(entryPoint, ops, data)).toBeLessThanOrEqual(limits.gas)
        expect(data.length / 2).toBeLessThanOrEqual(limits.bytes)
      }
      const tip = least(effectiveTip(ops[0]!, baseFee), selection.network.maxPriorityFeePerGas)
      for (const op of ops) expect(effectiveTip(op, baseFee)).toBeGreaterThanOrEqual(tip)
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

test('an operation that failed before runs alone when its turn comes', () => {
  const suspect = candidate(1, { maxPriorityFeePerGas: gwei(2) }, 1)
  const pool = [candidate(2), suspect, candidate(3)]
  expect(selectOperations(pool, selection)).toEqual([suspect])
  expect(selectOperations([candidate(2), candidate(3, {}, 2)], selection)).toHaveLength(1)
})
