import { expect, test } from 'vitest'
import { decimalOf, unitsOf } from './amounts.js'

test.each([
  ['1', '1000000000000000000'],
  ['0.01', '10000000000000000'],
  ['0.000000000000000001', '1'],
  [' 2.50 ', '2500000000000000000'],
  ['0', '0'],
])('%s ether is %s wei, and back', (ether, wei) => {
  expect(unitsOf(ether, 18)).toBe(wei)
  expect(Number(decimalOf(wei, 18))).toBe(Number(ether))
})

test.each(['', '-1', '1e3', '1,5', '0x1', '.5', '1.', '0.0000000000000000001'])(
  '%j is no amount',
  (text) => {
    expect(unitsOf(text, 18)).toBeUndefined()
  },
)

test('an amount is written as short as it is', () => {
  expect(decimalOf('1500000000', 9)).toBe('1.5')
  expect(decimalOf('0', 9)).toBe('0')
  expect(decimalOf('20000000000', 9)).toBe('20')
})
