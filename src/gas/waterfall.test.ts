import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createEntryPoint } from '../erc4337/createEntryPoint.js'
import { versions } from '../erc4337/versionFacts.js'
import { arbitraryOperation } from '../../test/support/operations/arbitraryOperation.js'
import { plainOperation } from '../../test/support/operations/plainOperation.js'
import { unusedGasCharge } from '../../test/support/operations/unusedGasCharge.js'
import { gasParts, inWei } from './waterfall.js'
import { wasteHints } from './wasteHints.js'

const address = '0x0000000071727de22e5e9d8baf0edac6f37da032'
const gas = fc.bigInt({ min: 0n, max: 2n ** 40n })
const charging = {
  beneficiary: undefined,
  chargedGas: 'used',
  calldataFloor: true,
  dataFee: 'none',
} as const

test.each(versions)('v%s: the parts are the gas and the charge, whatever was used', (version) => {
  const entryPoint = createEntryPoint(version, address)
  fc.assert(
    fc.property(
      arbitraryOperation(version),
      fc.record({ account: gas, paymaster: gas, call: gas, postOp: gas, work: gas, more: gas }),
      fc.record({ contextSize: fc.nat(10_000), sharedBy: fc.integer({ min: 1, max: 100 }) }),
      fc.record({ difference: fc.bigInt({ min: -1_000n, max: 1_000n }), cost: gas, baseFee: gas }),
      (operation, used, { contextSize, sharedBy }, { difference, cost, baseFee }) => {
        const { account, paymaster, call, postOp, work, more } = used
        const preOp = operation.preVerificationGas + account + paymaster + work
        const actualGasUsed = preOp + call + postOp + more + 1_001n
        const before = { authority: 'plain', hasDeposit: true } as const
        const run = {
          phases: { preOp, account, paymaster, call, postOp },
          contextSize,
          actualGasUsed,
        }
        const context = { definition: charging, entryPoint, before, sharedBy }
        const parts = gasParts(context, operation, run)
        const sumOf = (values: readonly bigint[]) => values.reduce((sum, each) => sum + each, 0n)
        expect(sumOf(parts.map((part) => part.gas))).toBe(actualGasUsed)
        for (const { kind, gas } of parts)
          if (kind !== 'executionWork')
            expect({ kind, isNegative: gas < 0n }).toEqual({ kind, isNegative: false })
        const charged = {
          operation,
          blockHash: '0x',
          success: true,
          actualGasUsed: actualGasUsed + difference,
          actualGasCost: cost,
          sharedBy,
        } as const
        const neighbours = { kind: 'neighbours', gas: difference } as const
        const { charge, ...whole } = inWei(entryPoint, charged, [...parts, neighbours], baseFee)
        expect(charge).toBe(cost)
        expect(sumOf(whole.parts.map(({ wei }) => wei))).toBe(cost)
        expect(sumOf(whole.parts.map((part) => part.gas))).toBe(charged.actualGasUsed)
        expect(whole.prefund - whole.refund).toBe(cost)
      },
    ),
  )
})

test.each(versions)('v%s: the charge for unused gas is found in what was charged', (version) => {
  const entryPoint = createEntryPoint(version, address)
  fc.assert(
    fc.property(
      fc.bigInt({ min: 0n, max: 2_000_000n }),
      fc.bigInt({ min: 0n, max: 2_000_000n }),
      (callGasLimit, used) => {
        const op = plainOperation({ callGasLimit, paymaster: undefined })
        const penalty = used < callGasLimit ? unusedGasCharge(version, op, used) : 0n
        const found = entryPoint.unusedGasCharge(op, {
          charged: used + penalty,
          call: used,
          postOp: 0n,
          contextSize: 0,
        })
        const error = found - penalty
        expect(error >= -1n && error <= 1n).toBe(true)
      },
    ),
    { numRuns: 2_000 },
  )
})

test('v0.8 charges the limit of postOp by itself, and only where there is a context', () => {
  const op = plainOperation({
    paymaster: address,
    paymasterPostOpGasLimit: 150_000n,
    callGasLimit: 0n,
  })
  const used = { charged: 65_000n, call: 0n, postOp: 50_000n, contextSize: 32 }
  const entryPoint = createEntryPoint('0.8', address)
  expect(entryPoint.unusedGasCharge(op, used)).toBe(10_000n)
  expect(entryPoint.unusedGasCharge(op, { ...used, contextSize: 0 })).toBe(0n)
  expect(entryPoint.unusedGasCharge(op, { ...used, postOp: 110_000n })).toBe(0n)
})

test('hints name what could have been saved, in wei and percent; trifles are none', () => {
  const op = plainOperation({ callGasLimit: 400_000n, preVerificationGas: 60_000n })
  const part = (kind: string, gas: bigint) => ({ kind, gas, wei: gas * 3n })
  const facts = {
    charge: 300_000n,
    phases: { call: 100_000n, postOp: 0n },
  }
  const parts = [
    part('call', 42_000n),
    part('unusedGas', 30_000n),
    part('excess', 10_000n),
    part('paymaster', 12_000n),
    part('postOp', 6_000n),
  ]
  const hints = wasteHints(op, { ...facts, parts })
  expect(hints).toEqual([
    {
      kind: 'unusedGas',
      wei: 90_000n,
      percent: 30,
      message:
        'callGasLimit is 400000, 100000 were used, 4 times as much: the EntryPoint charges a tenth of what is unused.',
    },
    { kind: 'excess', wei: 30_000n, percent: 10, message: expect.stringContaining('60000') },
    { kind: 'paymaster', wei: 54_000n, percent: 18, message: expect.any(String) },
  ])
  const trifles = [part('call', 99_500n), part('excess', 500n)]
  expect(wasteHints(op, { ...facts, parts: trifles })).toEqual([])
})
