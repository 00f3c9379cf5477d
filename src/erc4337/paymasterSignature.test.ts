import fc from 'fast-check'
import type { Hex } from 'viem'
import { expect, test } from 'vitest'
import { joinPaymasterSignature, splitPaymasterSignature } from './paymasterSignature.js'

function bytes(minLength: number) {
  return fc
    .uint8Array({ minLength, maxLength: 300 })
    .map((value): Hex => `0x${Buffer.from(value).toString('hex')}`)
}

test('data and signature come apart as they were joined', () => {
  fc.assert(
    fc.property(bytes(0), bytes(1), (data, signature) => {
      const joined = joinPaymasterSignature(data, signature)
      expect(joined.slice(-20)).toBe(
        `${((signature.length - 2) / 2).toString(16).padStart(4, '0')}22e325a297439656`,
      )
      expect(splitPaymasterSignature(joined)).toEqual({ data, signature })
    }),
  )
})

test.each<[string, Hex]>([
  ['nothing', '0x'],
  ['the magic alone', '0x22e325a297439656'],
  ['a length of zero', '0xab000022e325a297439656'],
  ['a length beyond the data', '0xab000222e325a297439656'],
  ['another magic', joinPaymasterSignature('0x', '0xab').replace(/6$/, '7') as Hex],
])('%s carries no signature', (_, paymasterData) => {
  expect(splitPaymasterSignature(paymasterData)).toBeUndefined()
})
