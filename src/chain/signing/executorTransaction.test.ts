import fc from 'fast-check'
import { type Hex, serializeTransaction } from 'viem'
import { expect, test } from 'vitest'
import { toHex } from '../../evm/index.js'
import { encodeTransaction } from './executorTransaction.js'

function hexOf(constraints: fc.IntArrayConstraints): fc.Arbitrary<Hex> {
  return fc.uint8Array(constraints).map(toHex)
}
const address = hexOf({ minLength: 20, maxLength: 20 })
const word = fc
  .bigInt({ min: 1n, max: 2n ** 256n - 1n })
  .map((value): Hex => `0x${value.toString(16).padStart(64, '0')}`)
const signature = fc.record({ r: word, s: word, yParity: fc.constantFrom(0 as const, 1 as const) })
const wei = fc.bigInt({ min: 0n, max: 2n ** 128n })
const transaction = fc
  .record({
    chainId: fc.integer({ min: 1, max: 2 ** 40 }),
    nonce: fc.nat(),
    to: address,
    data: hexOf({ maxLength: 300 }),
    value: wei,
    gas: fc.bigInt({ min: 0n, max: 2n ** 63n }),
    maxPriorityFeePerGas: wei,
    aboveTip: wei,
    authorizationList: fc.array(
      fc.record({ chainId: fc.nat(), address, nonce: fc.nat(), signature }),
      { maxLength: 3 },
    ),
  })
  .map(({ aboveTip, authorizationList, ...rest }) => ({
    ...rest,
    maxFeePerGas: rest.maxPriorityFeePerGas + aboveTip,
    authorizationList: authorizationList.map(({ signature, ...each }) => ({
      ...each,
      ...signature,
    })),
  }))

test('the bytes are those of viem, signed or not', () => {
  fc.assert(
    fc.property(transaction, fc.option(signature, { nil: undefined }), (given, signed) => {
      const { authorizationList, ...rest } = given
      const typed =
        authorizationList.length === 0
          ? ({ type: 'eip1559', ...rest } as const)
          : ({ type: 'eip7702', authorizationList, ...rest } as const)
      expect(toHex(encodeTransaction(given, signed))).toBe(serializeTransaction(typed, signed))
    }),
  )
})
