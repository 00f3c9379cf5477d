import { expect, test } from 'vitest'
import { createRandom } from '../../test/evm/random.js'
import { rollupVectors } from '../../test/gas/vectors/rollupVectors.js'
import { arbitrumFee, arbitrumSize, lowestArbitrumBaseFee, scrollFee } from './otherStackFees.js'

test.each(rollupVectors.scrollGalileo)('Scroll: $compressed bytes cost $fee wei', (vector) => {
  const prices = {
    l1BaseFee: BigInt(vector.l1BaseFee),
    l1BlobBaseFee: BigInt(vector.l1BlobBaseFee),
    execScalar: BigInt(vector.execScalar),
    blobScalar: BigInt(vector.blobScalar),
    penaltyFactor: BigInt(vector.penaltyFactor),
  }
  expect(scrollFee(prices, vector.compressed)).toBe(BigInt(vector.fee))
})

test('Scroll: prices of 0 cost nothing, and no fee exceeds 64 bits', () => {
  const none = { l1BaseFee: 0n, l1BlobBaseFee: 0n, execScalar: 0n, blobScalar: 0n }
  expect(scrollFee({ ...none, penaltyFactor: 0n }, 1_000)).toBe(0n)
  const expensive = {
    l1BaseFee: 10n ** 18n,
    l1BlobBaseFee: 0n,
    execScalar: 10n ** 12n,
    blobScalar: 0n,
  }
  expect(scrollFee({ ...expensive, penaltyFactor: 1n }, 100_000)).toBe(2n ** 64n - 1n)
})

test('Arbitrum: Brotli 1 hardly shrinks a short transaction of random bytes', () => {
  const bytes = createRandom(7).bytes(182)
  expect(arbitrumSize(bytes)).toBeGreaterThanOrEqual(182)
  expect(arbitrumSize(bytes)).toBeLessThanOrEqual(188)
  expect(arbitrumSize(new Uint8Array(1_000))).toBeLessThan(32)
})

test('Arbitrum: the fee is 16 units for each byte', () => {
  const prices = { pricePerUnit: 700_123_457n, minimumBaseFee: 20_000_000n }
  expect(arbitrumFee(prices, 497)).toBe(497n * 16n * 700_123_457n)
})

test('Arbitrum: the base fee is bounded by its minimum, or by an eighth less than what it is', () => {
  const prices = { pricePerUnit: 1n, minimumBaseFee: 20_000_000n }
  expect(lowestArbitrumBaseFee(prices, 20_000_000n)).toBe(20_000_000n)
  expect(lowestArbitrumBaseFee(prices, 80_000_000n)).toBe(70_000_000n)
})
