import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { MAX_UINT256 } from '../../../encoding/constants.js'
import { PurserError } from '../../../errors/purserError.js'
import {
  decodeGas,
  decodeInteger,
  decodeOptionalFee,
  decodeOptionalGasLimit,
  decodeQuantity,
  MAX_UINT120,
} from './quantity.js'

const uint256 = fc.bigInt({ min: 0n, max: MAX_UINT256 })

describe('decodeQuantity', () => {
  test.each([
    ['0x0', 0n],
    ['0x00', 0n],
    ['0x0dbba0', 900_000n],
    ['0xDbBa0', 900_000n],
    ['0XdbBA0', 900_000n],
    ['900000', 900_000n],
    ['0', 0n],
    ['007', 7n],
    [0, 0n],
    [900_000, 900_000n],
    [Number.MAX_SAFE_INTEGER, 9_007_199_254_740_991n],
    [`0x${'0'.repeat(60)}ffff`, 65_535n],
  ])('reads %s', (value, expected) => {
    expect(decodeQuantity(value, 'f')).toBe(expected)
  })

  test.each([
    [''],
    [' 1'],
    ['1 '],
    ['-1'],
    ['+1'],
    ['1e18'],
    ['1.0'],
    ['0x'],
    ['0xg'],
    ['0b1'],
    ['1_000'],
    ['abc'],
    ['１'],
    [`0x${'0'.repeat(65)}`],
    ['9'.repeat(79)],
    [-1],
    [0.5],
    [2 ** 53],
    [Number.NaN],
    [Number.POSITIVE_INFINITY],
    [true],
    [{}],
    [[]],
    [['1']],
    [null],
    [undefined],
  ])('refuses %s and names the field', (value) => {
    expect(() => decodeQuantity(value, 'params[0].nonce')).toThrow(
      expect.objectContaining({
        code: -32602,
        message: expect.stringMatching(/^params\[0\]\.nonce: /),
        data: { field: 'params[0].nonce' },
      }),
    )
  })

  test('gives back every uint256 written as hex, padded hex, upper case or decimal', () => {
    fc.assert(
      fc.property(uint256, (value) => {
        const hex = value.toString(16)
        const forms = [
          `0x${hex}`,
          `0x${hex.padStart(64, '0')}`,
          `0x${hex.toUpperCase()}`,
          `${value}`,
        ]
        for (const form of forms) expect(decodeQuantity(form, 'f')).toBe(value)
      }),
    )
  })

  test('gives back every exact JSON number', () => {
    fc.assert(
      fc.property(fc.maxSafeNat(), (value) => {
        expect(decodeQuantity(JSON.parse(JSON.stringify(value)), 'f')).toBe(BigInt(value))
      }),
    )
  })

  test('takes uint256 to the last and refuses the first above', () => {
    expect(decodeQuantity(MAX_UINT256.toString(), 'f')).toBe(MAX_UINT256)
    expect(() => decodeQuantity((MAX_UINT256 + 1n).toString(), 'f')).toThrow('must fit in uint256')
  })

  test('throws nothing but our own refusals, whatever the JSON', () => {
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), fc.string()), (value) => {
        try {
          expect(typeof decodeQuantity(value, 'f')).toBe('bigint')
        } catch (error) {
          expect(error).toBeInstanceOf(PurserError)
        }
      }),
    )
  })
})

describe('gas and fees', () => {
  test('must fit in uint120 and say AA94 otherwise', () => {
    expect(decodeGas(MAX_UINT120.toString(), 'f')).toBe(MAX_UINT120)
    expect(() => decodeGas((MAX_UINT120 + 1n).toString(), 'callGasLimit')).toThrow(
      'callGasLimit: AA94 gas values overflow',
    )
  })

  test.each([[undefined], [null], ['0x'], ['0x0'], ['0x00'], ['0'], [0]])(
    'a gas limit of %s is unset',
    (value) => {
      expect(decodeOptionalGasLimit(value, 'f')).toBeUndefined()
    },
  )

  test('a fee of zero is a fee, a missing one is unset', () => {
    expect(decodeOptionalFee('0', 'f')).toBe(0n)
    expect(decodeOptionalFee(0, 'f')).toBe(0n)
    expect(decodeOptionalFee(undefined, 'f')).toBeUndefined()
    expect(decodeOptionalFee('0x', 'f')).toBeUndefined()
  })

  test('an optional one that is there is checked all the same', () => {
    expect(() => decodeOptionalGasLimit('abc', 'f')).toThrow('f: must be a quantity')
    expect(() => decodeOptionalFee('', 'f')).toThrow('f: must be a quantity')
  })
})

test('decodeInteger keeps to its bounds', () => {
  expect(decodeInteger('0x12c', 'f', { min: 1, max: 300 })).toBe(300)
  expect(() => decodeInteger(301, 'f', { min: 1, max: 300 })).toThrow('f: must be from 1 to 300')
  expect(() => decodeInteger(0, 'f', { min: 1, max: 300 })).toThrow('f: must be from 1 to 300')
})
