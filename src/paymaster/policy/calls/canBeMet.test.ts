import fc from 'fast-check'
import { type AbiFunction, parseAbiItem } from 'viem'
import { describe, expect, test } from 'vitest'
import type { ValueComparison } from '../policy.js'
import { canBeMet, meets } from './constraint.js'

function inputs(type: string) {
  return (parseAbiItem(`function f(${type})`) as AbiFunction).inputs
}
function check(type: string, ...comparisons: ValueComparison[]) {
  return canBeMet(inputs(type), [{ path: [0], comparisons }])
}

describe('an argument that', () => {
  test.each([
    ['uint256', '$gt', '5', '$lt', '6', false],
    ['uint256', '$gt', '5', '$lt', '7', true],
    ['uint256', '$gte', '5', '$lte', '5', true],
    ['uint256', '$lt', '0', '$lte', '9', false],
    ['int8', '$lt', '0', '$gte', '-128', true],
    ['int8', '$lt', '0', '$lt', '-128', false],
    ['uint8', '$gt', '254', '$gte', '1', true],
    ['uint8', '$gt', '255', '$gte', '1', false],
    ['uint256', '$eq', '5', '$gte', '6', false],
    ['address', '$eq', `0x${'ab'.repeat(20)}`, '$eq', `0x${'AB'.repeat(20)}`, true],
    ['address', '$eq', `0x${'ab'.repeat(20)}`, '$eq', `0x${'ac'.repeat(20)}`, false],
    ['bool', '$eq', 'true', '$eq', 'true', true],
    ['bytes4', '$eq', '0xabcdef', '$eq', '0xabcdef', false],
    ['string', '$eq', '0xAB', '$eq', '0xab', true],
  ] as const)('is %s with %s %s and %s %s exists: %s', (type, a, first, b, second, exists) => {
    const comparisons = [
      { operator: a, value: first },
      { operator: b, value: second },
    ] as const
    expect(check(type, ...comparisons)).toBe(exists)
    // Two entries may name one place.
    const [one, other] = comparisons.map((each) => ({ path: [0], comparisons: [each] }))
    expect(canBeMet(inputs(type), [one!, other!])).toBe(exists)
  })

  test('is one of a list exists where one of it passes the rest', () => {
    const list = { operator: '$in', value: ['1', '9'] } as const
    expect(check('uint8', list, { operator: '$gt', value: '8' })).toBe(true)
    expect(check('uint8', list, { operator: '$gt', value: '9' })).toBe(false)
    expect(check('uint8', { operator: '$in', value: ['256', '300'] })).toBe(false)
  })

  test('is a small integer exists exactly where a search of them all finds one', () => {
    const operand = fc.integer({ min: -140, max: 140 }).map(String)
    const comparison: fc.Arbitrary<ValueComparison> = fc.oneof(
      fc.record({
        operator: fc.constantFrom('$eq', '$gt', '$gte', '$lt', '$lte'),
        value: operand,
      }),
      fc.record({ operator: fc.constant('$in'), value: fc.array(operand, { minLength: 1 }) }),
    )
    const all = Array.from({ length: 256 }, (_, at) => BigInt(at) - 128n)
    fc.assert(
      fc.property(fc.array(comparison, { minLength: 1, maxLength: 4 }), (comparisons) => {
        expect(check('int8', ...comparisons)).toBe(all.some((each) => meets(each, comparisons)))
      }),
    )
  })
})
