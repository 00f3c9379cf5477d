import fc from 'fast-check'
import type { Address, Hex } from 'viem'
import { describe, expect, test } from 'vitest'
import { createRandom } from '../../test/evm/random.js'
import { arbitraryOperation } from '../../test/support/operations/arbitraryOperation.js'
import type { Head } from '../chain/head.js'
import { createEntryPoint } from '../erc4337/createEntryPoint.js'
import type { Operation } from '../erc4337/operation.js'
import { toHex } from '../evm/index.js'
import { dataGas, estimatedDataGas, unsignedSize } from './dataGas.js'
import { afterSteps, type DataPrice, stackReaders } from './dataPrice.js'

const entryPoint = createEntryPoint('0.7', '0x0000000071727de22e5e9d8baf0edac6f37da032')
const head = { baseFee: 20_000_000n } as Head

function opStackPrice(l1BaseFee: bigint, operator = 0n): DataPrice {
  const scalars = (2_269n << 96n) | (1_055_762n << 64n)
  const words = [l1BaseFee, scalars, 0n, 0n, l1BaseFee / 16n, operator, 0x010101n]
  const results = [{ extraData: '0x' }, ...words.map((word) => `0x${word.toString(16)}`)]
  return stackReaders.opStack!.price(results, head)
}

function arbitrumPrice(pricePerUnit: bigint): DataPrice {
  const words = [pricePerUnit, 20_000_000n].map((word) => `0x${word.toString(16)}`)
  return stackReaders.arbitrum!.price(words, head)
}

function scrollPrice(l1BaseFee: bigint): DataPrice {
  const words = [l1BaseFee, l1BaseFee, 2_394_981_796n, 1_019_097_245n, 10_000n]
  const results = words.map((word) => `0x${word.toString(16)}`)
  return stackReaders.scroll!.price(results, head)
}

const prices = {
  opStack: opStackPrice(10n ** 9n),
  arbitrum: arbitrumPrice(7n * 10n ** 8n),
  scroll: scrollPrice(10n ** 9n),
} as const

const fees = { maxFeePerGas: 10n ** 12n, maxPriorityFeePerGas: 0n }
const random = createRandom(42)
function hex(size: number): Hex {
  return toHex(random.bytes(size))
}

/** An operation as wallets send it: one transfer, now and then other data, half of them sponsored. */
function realOperation(): Operation {
  const isSponsored = random.oneIn(2)
  const word = (digits: string) => digits.padStart(64, '0')
  const transfer = `b61d27f6${word(tokens[random.below(3)]!)}${word('')}${word('60')}${word('44')}a9059cbb${word(hex(20).slice(2))}${word(hex(8).slice(2))}${'00'.repeat(28)}`
  return {
    sender: hex(20) as Address,
    nonce: BigInt(random.below(60_000)),
    factory: undefined,
    factoryData: '0x',
    callData: random.oneIn(4) ? hex(100 + random.below(300)) : `0x${transfer}`,
    callGasLimit: BigInt(50_000 + random.below(50_000)),
    verificationGasLimit: BigInt(100_000 + random.below(100_000)),
    preVerificationGas: BigInt(50_000 + random.below(20_000)),
    maxFeePerGas: BigInt(30_000_000 + random.below(1_000_000)),
    maxPriorityFeePerGas: BigInt(1_000_000 + random.below(100_000)),
    paymaster: isSponsored ? tank : undefined,
    paymasterVerificationGasLimit: isSponsored ? 50_000n : 0n,
    paymasterPostOpGasLimit: isSponsored ? 1n : 0n,
    paymasterData: isSponsored ? hex(77) : '0x',
    signature: hex(65),
    authorization: undefined,
  }
}
const tokens = [hex(20), hex(20), hex(20)].map((token) => token.slice(2))
const tank = hex(20) as Address

describe.each(Object.entries(prices))('on %s', (_, price) => {
  test.each([1, 2, 5, 20])('bundles of %i take in what they cost, at most 45 %% more', (size) => {
    let [paid, cost] = [0n, 0n]
    for (let run = 0; run < 4; run++) {
      const ops = Array.from({ length: size }, realOperation)
      const data = entryPoint.encodeHandleOps(ops, hex(20) as Address)
      const transaction = { chainId: 8_453, nonce: 1_234, to: entryPoint.address, data, gas: 9n }
      const owed = price.feeOf(unsignedSize(price, { ...transaction, ...fees }))
      const shares = ops.map((op) =>
        dataGas(entryPoint, { op, fees, bundleSize: size }, price)!(0n),
      )
      const repaid = shares.reduce((sum, gas) => sum + gas, 0n) * price.lowestBaseFee
      expect(repaid).toBeGreaterThanOrEqual(owed)
      paid += repaid
      cost += owed
    }
    // Scroll takes more for each byte of a larger bundle: its share counts as if all had the size of this one.
    expect(Number(paid) / Number(cost)).toBeLessThan(1.45)
  })

  test('an estimate with a dummy signature is enough for any that follows, and repeats', () => {
    for (let run = 0; run < 10; run++) {
      const op = realOperation()
      const share = { op, fees, bundleSize: 1 }
      const dummy = { ...op, signature: `0x${'ff'.repeat(65)}` as Hex }
      const estimate = estimatedDataGas(entryPoint, { ...share, op: dummy }, price)!(50_000n)
      const admitted = dataGas(entryPoint, share, afterSteps(price, 1))!(50_000n)
      expect(estimate).toBeGreaterThanOrEqual(admitted)
      expect(estimatedDataGas(entryPoint, { ...share, op: dummy }, price)!(50_000n)).toBe(estimate)
    }
  })

  test('more bytes never cost less', () => {
    fc.assert(
      fc.property(arbitraryOperation('0.7'), fc.integer({ min: 1, max: 400 }), (op, more) => {
        const longer = { ...op, callData: `${op.callData}${hex(more).slice(2)}` as Hex }
        const gas = (of: Operation) =>
          dataGas(entryPoint, { op: of, fees, bundleSize: 1 }, price)!(0n)
        // FastLZ and Brotli may find a match more: a few bytes.
        expect(gas(longer) * 100n).toBeGreaterThanOrEqual(gas(op) * 97n)
      }),
      { numRuns: 20 },
    )
  })
})

test('without a price there is nothing to repay', () => {
  expect(
    dataGas(entryPoint, { op: realOperation(), fees, bundleSize: 1 }, undefined),
  ).toBeUndefined()
})

test('nothing is divided by zero where base fee and tip are 0, and prices of 0 cost nothing', () => {
  const op = realOperation()
  const none = { maxFeePerGas: 0n, maxPriorityFeePerGas: 0n }
  const share = { op, fees: none, bundleSize: 3 }
  const free = { ...prices.opStack, lowestBaseFee: 0n }
  expect(dataGas(entryPoint, share, free)!(0n)).toBeGreaterThan(0n)
  expect(dataGas(entryPoint, share, opStackPrice(0n))!(0n)).toBe(0n)
})

test('doubling the price of L1 doubles the gas', () => {
  const share = { op: realOperation(), fees, bundleSize: 1 }
  const once = dataGas(entryPoint, share, opStackPrice(10n ** 12n))!(0n)
  const twice = dataGas(entryPoint, share, opStackPrice(2n * 10n ** 12n))!(0n)
  expect(twice).toBeGreaterThanOrEqual(2n * once - 2n)
  expect(twice).toBeLessThanOrEqual(2n * once)
})

test("an operator's fee is repaid for all gas that the operation can cause", () => {
  const op = realOperation()
  const share = { op, fees, bundleSize: 1 }
  const scalar = 20_000_000n << 64n
  const [without, withFee] = [opStackPrice(10n ** 9n), opStackPrice(10n ** 9n, scalar)].map(
    (price) => dataGas(entryPoint, share, price)!(50_000n),
  )
  const most = op.callGasLimit + op.verificationGasLimit + 50_000n
  expect(withFee! - without!).toBeGreaterThanOrEqual((20n * most) / prices.opStack.lowestBaseFee)
})
