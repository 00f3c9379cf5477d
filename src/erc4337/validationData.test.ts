import fc from 'fast-check'
import { concat, hexToBigInt, numberToHex } from 'viem'
import { expect, it } from 'vitest'
import { arbitraryAddress } from '../../test/support/operations/arbitraryOperation.js'
import { splitValidationData } from './validationData.js'

it('splits the word into authorizer, validUntil and validAfter', () => {
  const time = fc.integer({ min: 0, max: 2 ** 48 - 1 })
  fc.assert(
    fc.property(arbitraryAddress, time, time, (authorizer, validUntil, validAfter) => {
      const word = concat([
        numberToHex(validAfter, { size: 6 }),
        numberToHex(validUntil, { size: 6 }),
        authorizer,
      ])
      expect(splitValidationData(hexToBigInt(word))).toEqual({ authorizer, validUntil, validAfter })
    }),
  )
})

it('reads the two words that accounts return without bounds', () => {
  const unbounded = { validUntil: 0, validAfter: 0 }
  expect(splitValidationData(0n)).toEqual({ authorizer: `0x${'0'.repeat(40)}`, ...unbounded })
  expect(splitValidationData(1n)).toEqual({ authorizer: `0x${'0'.repeat(39)}1`, ...unbounded })
})
