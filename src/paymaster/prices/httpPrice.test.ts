import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readPrice } from './httpPrice.js'

const one = 10n ** 18n

test.each([
  ['{"price":"3000.25"}', ['price']],
  ['{"price":3000.25}', ['price']],
  ['{"data":[{"price":"3000.25"}]}', ['data', '0', 'price']],
])('reads the price from %s', (body, path) => {
  expect(readPrice(body, path)).toEqual({ price: 3_000n * one + one / 4n })
})

test.each([
  ['no JSON', '<html>'],
  ['nothing there', '{"other":1}'],
  ['a member of the prototype only', '[]'],
  ['a price of nothing', '{"price":0}'],
  ['a negative price', '{"price":"-1"}'],
  ['a number beyond reason', '{"price":1e40}'],
  ['an object', '{"price":{}}'],
])('refuses %s', (_, body) => {
  const path = body === '[]' ? ['constructor'] : ['price']
  expect(readPrice(body, path).price).toBeUndefined()
})

test('whatever a server says is a price or a reason, never an exception', () => {
  fc.assert(
    fc.property(fc.json(), fc.array(fc.string(), { maxLength: 4 }), (body, path) => {
      const { price, reason } = readPrice(body, path)
      expect(price === undefined ? reason : price > 0n).toBeTruthy()
    }),
  )
})
