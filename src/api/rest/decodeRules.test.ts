import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { InvalidFieldError } from '../../errors/restErrors.js'
import {
  decodeAbi,
  decodeLimit,
  decodeMethods,
  decodeName,
  decodeRuleAddress,
} from './decodeRules.js'

function limitBody(change: Record<string, unknown>) {
  return {
    type: 'PAYMASTER',
    thresholdType: 'NATIVE_ASSET',
    threshold: 1,
    cycleDuration: { value: 1, unit: 'day' },
    ...change,
  }
}

function refused(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}

test('any JSON is decoded, or refused with the name of a field', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.jsonValue()), fc.jsonValue(), (body, value) => {
      for (const run of [
        () => decodeName({ ...body, name: value }),
        () => decodeRuleAddress({ ...body, address: value }),
        () => decodeAbi({ ...body, abi: value }),
        () => decodeAbi({ ...body, abi: JSON.stringify(value) }),
        () => decodeMethods(value, '[]'),
        () => decodeLimit(body),
        () => decodeLimit(limitBody({ threshold: value })),
        () => decodeLimit(limitBody({ cycleDuration: value })),
      ]) {
        const error = refused(run)
        if (error !== undefined) expect(error).toBeInstanceOf(InvalidFieldError)
      }
    }),
  )
})

describe('a limit', () => {
  test('in the native asset is its threshold in wei, to the last digit that a number has', () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 0, max: 999_999_999 }),
        fc.integer({ min: 0, max: 999_999 }),
        (whole, millionths) => {
          const threshold = Number(`${whole}.${String(millionths).padStart(6, '0')}`)
          const { limit } = decodeLimit(limitBody({ threshold }))
          expect(BigInt(limit)).toBe(BigInt(whole) * 10n ** 18n + BigInt(millionths) * 10n ** 12n)
        },
      ),
    )
  })

  test('is never negative, and rises with its threshold', () => {
    const threshold = fc.double({ min: 0, max: 1_000_000_000, noNaN: true })
    fc.assert(
      fc.property(threshold, threshold, (a, b) => {
        const [low, high] = [Math.min(a, b), Math.max(a, b)].map((each) =>
          BigInt(decodeLimit(limitBody({ threshold: each })).limit),
        ) as [bigint, bigint]
        expect(low).toBeGreaterThanOrEqual(0n)
        expect(high).toBeGreaterThanOrEqual(low)
      }),
    )
  })

  test('of operations is a whole number', () => {
    const count = (threshold: number) =>
      decodeLimit(limitBody({ thresholdType: 'COUNT', threshold }))
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 1_000_000_000 }), (threshold) => {
        expect(count(threshold).limit).toBe(String(threshold))
      }),
    )
    expect(refused(() => count(0.5))).toBeInstanceOf(InvalidFieldError)
  })

  test('keeps what a change leaves out', () => {
    const known = decodeLimit(limitBody({ threshold: 3 }))
    expect(decodeLimit({}, known)).toEqual(known)
    expect(decodeLimit({ threshold: 4 }, known)).toEqual({
      ...known,
      threshold: 4,
      limit: `4${'0'.repeat(18)}`,
    })
  })

  test.each([
    [{ value: 0, unit: 'day' }],
    [{ value: 32, unit: 'day' }],
    [{ value: 745, unit: 'hour' }],
    [{ value: 1.5, unit: 'hour' }],
    [{ value: 1, unit: 'week' }],
    [null],
  ])('has no cycle %j', (cycleDuration) => {
    expect(refused(() => decodeLimit(limitBody({ cycleDuration })))).toBeInstanceOf(
      InvalidFieldError,
    )
  })
})

describe('methods', () => {
  const abi = JSON.stringify([
    { type: 'function', name: 'set', inputs: [{ type: 'uint256', name: 'a' }] },
    { type: 'function', name: 'set', inputs: [{ type: 'string', name: 'b' }] },
    { type: 'function', name: 'pay', inputs: [] },
    { type: 'event', name: 'Paid', inputs: [] },
  ])

  test('are all functions of the name, each once', () => {
    expect(decodeMethods(['set', 'set'], abi)).toEqual({
      whitelistedMethods: ['set'],
      functions: ['set(uint256)', 'set(string)'],
    })
  })

  test('must be functions of the ABI', () => {
    for (const name of ['Paid', 'other', '', 1, null])
      expect(refused(() => decodeMethods(['pay', name], abi))).toMatchObject({
        message: expect.stringContaining('whitelistedMethods[1]'),
      })
  })
})

test('an address is lower case whatever its case was', () => {
  const given = `0x${'aB'.repeat(20)}`
  expect(decodeRuleAddress({ address: given })).toBe(given.toLowerCase())
})

test('a name of control characters or of half a character is none', () => {
  for (const name of ['a\u0000b', '\ud800', '', 'x'.repeat(101)])
    expect(refused(() => decodeName({ name }))).toBeInstanceOf(InvalidFieldError)
  expect(decodeName({ name: 'Größe 💡' })).toBe('Größe 💡')
})
