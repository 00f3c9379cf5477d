import { type AbiFunction, parseAbiItem } from 'viem'
import { expect, test } from 'vitest'
import { argumentAt, meets } from './constraint.js'

function inputs(signature: string) {
  return (parseAbiItem(`function ${signature}`) as AbiFunction).inputs
}

test.each([
  [5n, { operator: '$eq', value: '5' }, true],
  [5n, { operator: '$eq', value: '0x5' }, true],
  [5n, { operator: '$gt', value: '5' }, false],
  [5n, { operator: '$gte', value: '5' }, true],
  [5n, { operator: '$lt', value: '5' }, false],
  [5n, { operator: '$lte', value: '5' }, true],
  [-5n, { operator: '$lt', value: '-4' }, true],
  [2n ** 255n, { operator: '$gt', value: String(2n ** 255n - 1n) }, true],
  [8, { operator: '$eq', value: '8' }, true],
  [5n, { operator: '$in', value: ['4', '5'] }, true],
  [6n, { operator: '$in', value: ['4', '5'] }, false],
  ['0xAbcd', { operator: '$eq', value: '0xabCD' }, true],
  ['Text', { operator: '$eq', value: 'text' }, false],
  [true, { operator: '$eq', value: 'true' }, true],
  [true, { operator: '$eq', value: '1' }, false],
  ['0xab', { operator: '$gt', value: '0' }, false],
  [[1n], { operator: '$eq', value: '1' }, false],
  [undefined, { operator: '$eq', value: 'undefined' }, false],
] as const)('%s %o: %s', (value, comparison, met) => {
  expect(meets(value, [comparison])).toBe(met)
})

test('all comparisons must hold', () => {
  const between = (value: bigint) =>
    meets(value, [
      { operator: '$gte', value: '2' },
      { operator: '$lt', value: '4' },
    ])
  expect([1n, 2n, 3n, 4n].map(between)).toEqual([false, true, true, false])
})

test('a path leads through tuples, named or not, and arrays', () => {
  const named = inputs('f((uint256 a, (address x, bytes b) c) t, uint256[2][] list)')
  const values = [{ a: 1n, c: { x: '0x12', b: '0x' } }, [[3n, 4n]]]
  expect(argumentAt(named, values, [0, 1, 0])?.value).toBe('0x12')
  expect(argumentAt(named, values, [1, 0, 1])?.value).toBe(4n)
  expect(argumentAt(named, values, [1, 5, 1])?.value).toBeUndefined()
  expect(argumentAt(named, values, [0, 2])).toBeUndefined()
  expect(argumentAt(named, values, [2])).toBeUndefined()
  const bare = inputs('f((uint256,address))')
  expect(argumentAt(bare, [[1n, '0x12']], [0, 1])?.value).toBe('0x12')
})
