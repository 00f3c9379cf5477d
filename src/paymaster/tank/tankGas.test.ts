import fc from 'fast-check'
import type { Hex } from 'viem'
import { expect, test } from 'vitest'
import { forkGas } from '../../erc4337/forkGas.js'
import { tankVerificationGas } from './tankGas.js'

const osaka = { gas: () => forkGas('0.7', ['osaka']) }

function bytes(length: number): Hex {
  return `0x${'ab'.repeat(length)}`
}

test('follows the figures that were measured, with a fifth to spare', () => {
  const measured: [callData: number, gas: bigint][] = [
    [132, 20_827n],
    [4_100, 23_528n],
    [32_100, 46_004n],
    [120_100, 155_608n],
  ]
  for (const [length, gas] of measured) {
    const op = { factoryData: bytes(0), callData: bytes(length), signature: bytes(65) }
    expect(tankVerificationGas(osaka, op)).toBeGreaterThan((gas * 6n) / 5n)
    expect(tankVerificationGas(osaka, op)).toBeLessThan(gas * 2n)
  }
})

test('never falls when an operation grows, whichever of its parts does', () => {
  const length = fc.nat({ max: 50_000 })
  fc.assert(
    fc.property(length, length, length, length, (factoryData, callData, signature, more) => {
      const op = {
        factoryData: bytes(factoryData),
        callData: bytes(callData),
        signature: bytes(signature),
      }
      for (const part of ['factoryData', 'callData', 'signature'] as const) {
        const grown = { ...op, [part]: bytes((op[part].length - 2) / 2 + more) }
        expect(tankVerificationGas(osaka, grown)).toBeGreaterThanOrEqual(
          tankVerificationGas(osaka, op),
        )
      }
    }),
    { numRuns: 30 },
  )
})
