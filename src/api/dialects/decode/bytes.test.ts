import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PurserError } from '../../../errors/purserError.js'
import { decodeAddress, decodeBytes, decodeHash, decodeOptionalBytes, decodeWord } from './bytes.js'

describe('decodeBytes', () => {
  test('lowers the case', () => {
    expect(decodeBytes('0xABcd', 'f', 2)).toBe('0xabcd')
    expect(decodeBytes('0XAB', 'f', 2)).toBe('0xab')
    expect(decodeBytes('0x', 'f', 0)).toBe('0x')
  })

  test.each([
    ['0xabc', 'f: must hold whole bytes'],
    ['abcd', 'f: must be a hex string'],
    ['0xzz', 'f: must be a hex string'],
    ['0xab\n', 'f: must be a hex string'],
    ['', 'f: must be a hex string'],
    [12, 'f: must be a hex string'],
    [['0xab'], 'f: must be a hex string'],
    ['0xabcdef', 'f: is longer than 2 bytes'],
    [null, 'f: must be a hex string'],
    [undefined, 'f: is missing'],
  ])('refuses %s', (value, message) => {
    expect(() => decodeBytes(value, 'f', 2)).toThrow(message)
  })

  test('optional bytes are empty when missing', () => {
    expect(decodeOptionalBytes(undefined, 'f', 2)).toBe('0x')
    for (const value of [null, false])
      expect(() => decodeOptionalBytes(value, 'f', 2)).toThrow('f: must be a hex string')
  })

  test('gives back any bytes', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (bytes) => {
        const hex = `0x${Buffer.from(bytes).toString('hex')}`
        expect(decodeBytes(hex.toUpperCase(), 'f', 64)).toBe(hex)
      }),
    )
  })
})

describe('decodeAddress', () => {
  test('takes any case: checksums are not enforced', () => {
    const lower = '0x5ff137d4b0fdcd49dca30c7cf57e578a026d2789'
    for (const form of ['0x5FF137D4b0FDCD49DcA30c7CF57E578a026d2789', lower.toUpperCase(), lower])
      expect(decodeAddress(form, 'f')).toBe(lower)
  })

  test.each([
    ['0x'],
    [`0x${'1'.repeat(39)}`],
    [`0x${'1'.repeat(41)}`],
    ['1'.repeat(40)],
    [1],
    [{}],
  ])('refuses %s', (value) => {
    expect(() => decodeAddress(value, 'params[1]')).toThrow('params[1]: must be an address')
  })
})

test('decodeHash says what the bundler specification expects', () => {
  expect(decodeHash(`0x${'Ab'.repeat(32)}`, 'params[0]')).toBe(`0x${'ab'.repeat(32)}`)
  for (const value of [undefined, null, '0x', `0x${'ab'.repeat(31)}`, 5, {}])
    expect(() => decodeHash(value, 'params[0]')).toThrow('Missing/invalid userOpHash')
})

test('decodeWord pads on the left and refuses more than 32 bytes', () => {
  expect(decodeWord('0x1', 'f')).toBe(`0x${'0'.repeat(63)}1`)
  expect(() => decodeWord('0x', 'f')).toThrow('f: must be a hex string of at most 32 bytes')
  expect(() => decodeWord(`0x${'1'.repeat(65)}`, 'f')).toThrow('at most 32 bytes')
})

test('none throws anything but our own refusals, whatever the JSON', () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.string()), (value) => {
      for (const decode of [decodeAddress, decodeWord, decodeHash])
        try {
          expect(decode(value, 'f')).toMatch(/^0x[0-9a-f]+$/)
        } catch (error) {
          expect(error).toBeInstanceOf(PurserError)
        }
    }),
  )
})
