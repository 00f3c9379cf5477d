import fc from 'fast-check'
import { type Hex, zeroAddress } from 'viem'
import { describe, expect, test } from 'vitest'
import { createRandom } from '../../../test/evm/random.js'
import type { Head } from '../../chain/head.js'
import { createEntryPoint } from '../../erc4337/createEntryPoint.js'
import { dataGas, estimatedDataGas } from '../../gas/dataGas.js'
import { afterSteps, stackReaders } from '../../gas/dataPrice.js'
import { encodeTokenData } from '../tokenData.js'
import { tokenStub } from './tokenCase.js'
import { leastVerificationGas06, tokenPostOpGas, tokenVerificationGas } from './tokenCharge.js'

const entryPoint = createEntryPoint('0.7', '0x0000000071727de22e5e9d8baf0edac6f37da032')
const TREASURY = `0x${'7'.repeat(40)}` as const
function bytes(length: number): Hex {
  return `0x${'ab'.repeat(length)}`
}
function opOf(length: number) {
  return {
    factoryData: bytes(0),
    callData: bytes(length),
    signature: bytes(65),
  }
}

describe('gas of a token tank', () => {
  test.each([
    ['prefund', 63_427n],
    ['afterwards', 32_079n],
    ['permit', 115_917n],
  ] as const)('%s: validation follows what was measured', (mode, gas) => {
    expect(tokenVerificationGas(entryPoint, opOf(200), mode, 0n)).toBeGreaterThan((gas * 6n) / 5n)
    expect(tokenVerificationGas(entryPoint, opOf(200), mode, 0n)).toBeLessThan((gas * 3n) / 2n)
  })

  test.each([
    ['prefund', zeroAddress, 11_034n],
    ['prefund', TREASURY, 36_229n],
    ['permit', TREASURY, 36_229n],
    ['afterwards', zeroAddress, 35_156n],
    ['afterwards', TREASURY, 35_156n],
  ] as const)('%s: postOp for %s follows what was measured', (mode, treasury, gas) => {
    expect(tokenPostOpGas(entryPoint, { mode, treasury }, 0n)).toBeGreaterThan((gas * 23n) / 20n)
    expect(tokenPostOpGas(entryPoint, { mode, treasury }, 0n)).toBeLessThan((gas * 3n) / 2n)
  })

  test('by the rules of Amsterdam there is gas for each slot that is new, and for changes', () => {
    const amsterdam = createEntryPoint('0.7', entryPoint.address, () => ['amsterdam'])
    const more = (of: (on: typeof entryPoint) => bigint) => of(amsterdam) - of(entryPoint)
    expect(more((on) => tokenVerificationGas(on, opOf(200), 'prefund', 0n))).toBe(
      88_020n + 2n * 7_200n,
    )
    expect(more((on) => tokenVerificationGas(on, opOf(200), 'permit', 0n))).toBe(
      3n * 88_020n + 2n * 7_200n,
    )
    const charge = { mode: 'afterwards', treasury: TREASURY } as const
    expect(more((on) => tokenPostOpGas(on, charge, 0n))).toBe(88_020n + 7_200n)
  })

  test('grows with the operation and with what the token costs', () =>
    fc.assert(
      fc.property(
        fc.nat({ max: 50_000 }),
        fc.nat({ max: 50_000 }),
        fc.bigInt({ min: 0n, max: 100_000n }),
        fc.constantFrom('prefund' as const, 'afterwards' as const, 'permit' as const),
        (length, more, perCall, mode) => {
          const short = tokenVerificationGas(entryPoint, opOf(length), mode, perCall)
          expect(
            tokenVerificationGas(entryPoint, opOf(length + more), mode, perCall),
          ).toBeGreaterThanOrEqual(short)
          expect(
            tokenVerificationGas(entryPoint, opOf(length), mode, perCall + 1n),
          ).toBeGreaterThan(short)
          const terms = { mode, treasury: TREASURY }
          expect(tokenPostOpGas(entryPoint, terms, perCall + 1n)).toBeGreaterThan(
            tokenPostOpGas(entryPoint, terms, perCall),
          )
        },
      ),
      { numRuns: 30 },
    ))

  test('v0.6 leaves postOp its gas (EIP-150)', () =>
    fc.assert(
      fc.property(fc.bigInt({ min: 1_000n, max: 2n ** 32n - 1n }), (postOpGas) => {
        const granted = leastVerificationGas06(postOpGas) - 34_000n
        expect((granted * 63n) / 64n).toBeGreaterThanOrEqual(postOpGas)
      }),
    ))
})

const random = createRandom(27)
const drawn = (size: number): Hex => `0x${Buffer.from(random.bytes(size)).toString('hex')}`
const word = (value: bigint): Hex => `0x${value.toString(16)}`
const l1 = [10n ** 11n, (2_269n << 96n) | (1_055_762n << 64n), 0n, 0n, 10n ** 10n, 0n, 0x010101n]
const head = { baseFee: 10n ** 9n } as Head
const prices = {
  opStack: stackReaders.opStack!.price([{ extraData: '0x' }, ...l1.map(word)], head),
  arbitrum: stackReaders.arbitrum!.price([7n * 10n ** 10n, 10n ** 9n].map(word), head),
}

test.each(Object.entries(prices))(
  'on %s an estimate has gas for the data of every rate and time, and little more',
  (_, price) => {
    const fees = { maxFeePerGas: 3_141_592_653n, maxPriorityFeePerGas: 1_234_567_891n }
    for (const bundleSize of [1, 5, 20]) {
      for (let run = 0; run < 20; run++) {
        const mode = random.pick(['prefund', 'afterwards'] as const)
        const validUntil = 1_700_000_000 + random.below(2 ** 29)
        const treasury = random.oneIn(2) ? TREASURY : zeroAddress
        const rate = 2_000_000_000n + BigInt(random.below(2 ** 31 - 1))
        const markup = 1_000_000 + random.below(200_000)
        const terms = { mode, token: drawn(20), rate, markup, treasury }
        const postOpGas = tokenPostOpGas(entryPoint, terms, 0n)
        const quote = { ...terms, postOpGas, validUntil, validAfter: 0 }
        const callData = drawn(100)
        const draft = { ...opOf(0), callData, signature: drawn(65) }
        const stub = tokenStub(
          drawn(20),
          { quote, permit: undefined, perCall: 0n },
          entryPoint,
          draft,
        )
        const op = {
          ...draft,
          ...stub,
          ...fees,
          sender: drawn(20),
          nonce: 0n,
          factory: undefined,
          callGasLimit: BigInt(50_000 + random.below(50_000)),
          verificationGasLimit: BigInt(90_000 + random.below(50_000)),
          preVerificationGas: BigInt(60_000 + random.below(9_000)),
          authorization: undefined,
        }
        const signed = {
          ...op,
          paymasterData: encodeTokenData({ quote, signature: drawn(65), permit: undefined }),
        }
        const share = { fees, bundleSize }
        const estimated = estimatedDataGas(entryPoint, { ...share, op }, price)!(0n)
        const [atOnce, admitted] = [0, 1].map((steps) =>
          dataGas(entryPoint, { ...share, op: signed }, afterSteps(price, steps))!(0n),
        )
        expect(estimated).toBeGreaterThanOrEqual(admitted!)
        expect(Number(estimated) / Number(atOnce)).toBeLessThan(1.4)
      }
    }
  },
)
