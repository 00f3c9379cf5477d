import fc from 'fast-check'
import { type Hex, serializeTransaction } from 'viem'
import { expect, test } from 'vitest'
import { toHex } from '../evm/index.js'
import { encodeLegacyTransaction } from './encodeLegacyTransaction.js'
import { encodeTransaction } from './encodeTransaction.js'

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

test('a legacy transaction has the bytes of viem, its tip as price, and no authorizations', () => {
  fc.assert(
    fc.property(transaction, fc.option(signature, { nil: undefined }), (given, signed) => {
      const { authorizationList, maxFeePerGas: _, maxPriorityFeePerGas, ...rest } = given
      const untyped = { type: 'legacy', gasPrice: maxPriorityFeePerGas, ...rest } as const
      const v = BigInt(rest.chainId * 2 + 35 + (signed?.yParity ?? 0))
      const wanted = serializeTransaction(untyped, signed && { ...signed, v })
      const encode = () => toHex(encodeLegacyTransaction(given, signed))
      if (authorizationList.length > 0) expect(encode).toThrow('carries no authorizations')
      else expect(encode()).toBe(wanted)
    }),
  )
})
