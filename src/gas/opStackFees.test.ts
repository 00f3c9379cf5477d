import fc from 'fast-check'
import { LibZip } from 'solady'
import { expect, test } from 'vitest'
import { createRandom } from '../../test/evm/random.js'
import { type OpVector, rollupVectors } from '../../test/gas/vectors/rollupVectors.js'
import { fromHex, toHex } from '../evm/index.js'
import {
  compressedEstimate,
  decodeBaseFeeRule,
  fastLzLength,
  lowestBaseFee,
  type OpStackFork,
  type OpStackPrices,
  operatorFeeOf,
  operatorFeePerGas,
  opStackFee,
  opStackSize,
} from './opStackFees.js'

const noOperatorFee = { rule: 'isthmus', scalar: 0n, constant: 0n } as const

function pricesOf(vector: OpVector, fork: OpStackFork): OpStackPrices {
  return {
    fork,
    l1BaseFee: BigInt(vector.l1BaseFee),
    blobBaseFee: BigInt(vector.blobBaseFee),
    baseFeeScalar: BigInt(vector.baseFeeScalar),
    blobBaseFeeScalar: BigInt(vector.blobBaseFeeScalar),
    overhead: 0n,
    scalar: 0n,
    tokenRatio: 1n,
    operatorFee: noOperatorFee,
  }
}

/** Any length up to 170 counts as the least size. */
function sizeOf({ raw, fastlz, minimumSize }: OpVector, fork: OpStackFork): number {
  if (minimumSize) return 170
  const size = raw === undefined ? fastlz : opStackSize(fork, fromHex(`0x${raw}`))
  if (fastlz !== undefined) expect(size).toBe(fastlz)
  return size!
}

test.each(rollupVectors.opFjord)('Fjord: $l1Fee wei ($source)', (vector) => {
  const size = sizeOf(vector, 'fjord')
  expect(opStackFee(pricesOf(vector, 'fjord'), size)).toBe(BigInt(vector.l1Fee))
  const l1Gas = (compressedEstimate(BigInt(size)) * 16n) / 1_000_000n
  if (vector.l1GasUsed !== undefined) expect(l1Gas).toBe(BigInt(vector.l1GasUsed))
  const { rule, gasUsed, operatorFeeScalar, operatorFeeConstant, operatorFee } = vector
  if (rule === undefined) return
  const [scalar, constant] = [BigInt(operatorFeeScalar!), BigInt(operatorFeeConstant!)]
  expect(operatorFeeOf({ rule, scalar, constant }, BigInt(gasUsed!))).toBe(BigInt(operatorFee!))
})

test.each(rollupVectors.opEcotone)('Ecotone: $l1Fee wei ($source)', (vector) => {
  const size = sizeOf(vector, 'ecotone')
  expect(size).toBe(vector.l1GasUsed)
  expect(opStackFee(pricesOf(vector, 'ecotone'), size)).toBe(BigInt(vector.l1Fee))
})

test.each(rollupVectors.operatorFee)('operator fee by $rule: $fee wei', (vector) => {
  const { rule } = vector
  const [scalar, constant] = [BigInt(vector.scalar), BigInt(vector.constant)]
  const fee = operatorFeeOf({ rule, scalar, constant }, BigInt(vector.gas))
  expect(fee).toBe(BigInt(vector.fee))
  const bound = operatorFeePerGas({ rule, scalar, constant }) * BigInt(vector.gas) + constant
  expect(bound).toBeGreaterThanOrEqual(fee)
})

/** The transaction `emptyTx` of op-geth's tests: 30 bytes, none of them zero. */
const emptyTx = new Uint8Array(30).fill(1)
const bedrock = {
  fork: 'bedrock',
  l1BaseFee: 1_000_000_000n,
  blobBaseFee: 10_000_000n,
  baseFeeScalar: 0n,
  blobBaseFeeScalar: 0n,
  overhead: 50n,
  scalar: 7_000_000n,
  tokenRatio: 1n,
  operatorFee: noOperatorFee,
} as const

test('Bedrock after Regolith: 3,710,000,000,000 wei (op-geth core/types/rollup_cost_test.go)', () => {
  expect(opStackFee(bedrock, opStackSize('bedrock', emptyTx))).toBe(3_710_000_000_000n)
})

test('Bedrock before Regolith counts 68 bytes more: 11,326,000,000,000 wei (the same)', () => {
  const size = opStackSize('bedrock', emptyTx) + 68 * 16
  expect(opStackFee(bedrock, size)).toBe(11_326_000_000_000n)
})

test('Ecotone: 960,900 wei (the same), and Bedrock while its scalars are empty', () => {
  const ecotone = { ...bedrock, fork: 'ecotone', baseFeeScalar: 2n, blobBaseFeeScalar: 3n } as const
  const size = opStackSize('ecotone', emptyTx)
  expect(opStackFee(ecotone, size)).toBe(960_900n)
  expect(opStackFee({ ...bedrock, fork: 'ecotone' }, size)).toBe(3_710_000_000_000n)
})

test('in a coin of its own the chain takes the fee times the ratio of prices (Mantle)', () => {
  for (const vector of rollupVectors.opFjord) {
    const prices = { ...pricesOf(vector, 'fjord'), tokenRatio: 3_124n }
    expect(opStackFee(prices, sizeOf(vector, 'fjord'))).toBe(BigInt(vector.l1Fee) * 3_124n)
  }
})

test('headers of Holocene and Jovian tell how far the base fee falls', () => {
  const jovian = decodeBaseFeeRule('0x010000007d0000000600000000001e8480')
  expect(jovian).toEqual({ isJovian: true, denominator: 125n, minimum: 2_000_000n })
  const holocene = decodeBaseFeeRule('0x00000000fa00000006')
  expect(holocene).toEqual({ isJovian: false, denominator: 250n, minimum: 0n })
  expect(decodeBaseFeeRule('0x')).toEqual(holocene)
  expect(lowestBaseFee(jovian, 2_000_100n, 10)).toBe(2_000_000n)
  expect(lowestBaseFee(jovian, 1_000_000_000n, 1)).toBe(992_000_000n)
  const tenLater = Number(lowestBaseFee(jovian, 1_000_000_000n, 10)) / 1e9
  expect(tenLater).toBeCloseTo((1 - 1 / 125) ** 10, 6)
  expect(lowestBaseFee(holocene, 0n, 10)).toBe(0n)
})

test.each(rollupVectors.fastlz.map((vector, index) => ({ ...vector, index })))(
  'vector $index of other clients takes $length bytes',
  ({ hex, repeat = '', times = 0, length }) => {
    expect(fastLzLength(fromHex(`0x${hex ?? repeat.repeat(times)}`))).toBe(length)
  },
)

test('the length is that of the contract library, whatever the bytes', () => {
  const random = createRandom(20_261_122)
  for (let run = 0; run < 150; run++) {
    const pieces = Array.from({ length: 1 + random.below(12) }, () =>
      random.bytes(random.below(90)),
    )
    // Pieces come again, so that there are matches near and far, long and short.
    const chosen = Array.from({ length: random.below(60) }, () => random.pick(pieces))
    const bytes = Uint8Array.from(chosen.flatMap((piece) => [...piece]))
    expect(fastLzLength(bytes)).toBe((LibZip.flzCompress(toHex(bytes)).length - 2) / 2)
  }
})

test('words of an ABI encoding, runs and far repeats have the length of the contract library', () => {
  const word = fc.oneof(
    fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }),
    fc.bigInt({ min: 0n, max: 2n ** 256n - 1n }),
    fc.constantFrom(0n, 1n, 0xe0n),
  )
  fc.assert(
    fc.property(fc.array(word, { maxLength: 120 }), (words) => {
      const hex = words.map((value) => value.toString(16).padStart(64, '0')).join('')
      const bytes = fromHex(`0x${hex}`)
      expect(fastLzLength(bytes)).toBe((LibZip.flzCompress(`0x${hex}`).length - 2) / 2)
    }),
  )
  const far = Uint8Array.from([...Array(9_000).keys()].flatMap((i) => [i & 255, (i * 7) & 255]))
  const twice = Uint8Array.from([...far, ...far])
  expect(fastLzLength(twice)).toBe((LibZip.flzCompress(toHex(twice)).length - 2) / 2)
})
