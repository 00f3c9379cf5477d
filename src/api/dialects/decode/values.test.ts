import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { PurserError } from '../../../base/errors/purserError.js'
import { MAX_UINT256 } from '../../../erc4337/encoding/constants.js'
import {
  decodeAddress,
  decodeBytes,
  decodeGas,
  decodeInteger,
  decodeOptionalBytes,
  decodeOptionalFee,
  decodeOptionalGasLimit,
  decodeQuantity,
  decodeWord,
  MAX_UINT120,
  userOpHash,
} from './values.js'

const chain = { chainId: 1, entryPoints: new Map() }

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

test('a userOpHash that is none says what the bundler specification expects', () => {
  expect(userOpHash.decode(`0x${'Ab'.repeat(32)}`, 'params[0]', chain)).toBe(`0x${'ab'.repeat(32)}`)
  for (const value of [undefined, null, '0x', `0x${'ab'.repeat(31)}`, 5, {}])
    expect(() => userOpHash.decode(value, 'params[0]', chain)).toThrow('Missing/invalid userOpHash')
})

test('decodeWord pads on the left and refuses more than 32 bytes', () => {
  expect(decodeWord('0x1', 'f')).toBe(`0x${'0'.repeat(63)}1`)
  expect(() => decodeWord('0x', 'f')).toThrow('f: must be a hex string of at most 32 bytes')
  expect(() => decodeWord(`0x${'1'.repeat(65)}`, 'f')).toThrow('at most 32 bytes')
})

test('none throws anything but our own refusals, whatever the JSON', () => {
  fc.assert(
    fc.property(fc.oneof(fc.jsonValue(), fc.string()), (value) => {
      for (const decode of [decodeAddress, decodeWord, userOpHash.decode])
        try {
          expect(decode(value, 'f', chain)).toMatch(/^0x[0-9a-f]+$/)
        } catch (error) {
          expect(error).toBeInstanceOf(PurserError)
        }
    }),
  )
})

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
