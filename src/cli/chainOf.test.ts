import { expect, test } from 'vitest'
import { coinsOf } from './chainOf.js'

test('amounts are written in the coin of their chain, to the wei', () => {
  expect(coinsOf({ nativeCoin: 'POL' })(1_500_000_000_000_000_000n)).toBe('1.5 POL')
  expect(coinsOf({ nativeCoin: 'ETH' })(1n)).toBe('0.000000000000000001 ETH')
})
