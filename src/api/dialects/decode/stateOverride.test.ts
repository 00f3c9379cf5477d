import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { address } from '../../../../test/support/http/apiFixtures.js'
import { PurserError } from '../../../base/errors/purserError.js'
import { decodeStateOverride } from './stateOverride.js'

function decode(value: unknown) {
  return decodeStateOverride(value, 'params[2]')
}
function slots(count: number) {
  return Object.fromEntries(
    Array.from({ length: count }, (_, slot) => [`0x${slot.toString(16)}`, '0x1']),
  )
}

describe('decodeStateOverride', () => {
  test('gives canonical quantities, words and lower case', () => {
    const override = {
      [`0x${'A'.repeat(40)}`]: { balance: '1000', nonce: '0x05', code: '0xABCD' },
      [address('b')]: { stateDiff: { '0x1': '0x2' } },
      [address('c')]: { state: {} },
      [address('d')]: {},
    }
    expect(decode(override)).toEqual({
      [address('a')]: { balance: '0x3e8', nonce: '0x5', code: '0xabcd' },
      [address('b')]: { stateDiff: { [`0x${'0'.repeat(63)}1`]: `0x${'0'.repeat(63)}2` } },
      [address('c')]: { state: {} },
      [address('d')]: {},
    })
  })

  test.each([
    ['no object', [], 'params[2]: must be an object'],
    ['a key that is no address', { '0x12': {} }, 'params[2] key: must be an address'],
    ['an account that is no object', { [address('a')]: 5 }, `params[2].${address('a')}: must be`],
    ['a field nobody applies', { [address('a')]: { blance: '0x1' } }, 'cannot override "blance"'],
    ['a bad balance', { [address('a')]: { balance: '-1' } }, '.balance: must be a quantity'],
    ['a nonce above uint64', { [address('a')]: { nonce: `0x1${'0'.repeat(16)}` } }, 'uint64'],
    ['both states', { [address('a')]: { state: {}, stateDiff: {} } }, 'not both'],
    ['a bad slot', { [address('a')]: { state: { x: '0x1' } } }, '.state key: must be a hex'],
    ['a bad word', { [address('a')]: { state: { '0x1': 1 } } }, '.state value: must be a hex'],
    ['too many slots', { [address('a')]: { state: slots(1_001) } }, 'more than 1000 slots'],
    ['one account twice', { [address('a')]: {}, [`0x${'A'.repeat(40)}`]: {} }, 'more than once'],
    [
      'too many accounts',
      Object.fromEntries(
        Array.from({ length: 101 }, (_, n) => [`0x${n.toString(16).padStart(40, '0')}`, {}]),
      ),
      'more than 100 accounts',
    ],
  ])('refuses %s', (_, value, message) => {
    expect(() => decode(value)).toThrow(message)
  })

  test('throws nothing but our own refusals, whatever the JSON', () => {
    const account = fc.dictionary(
      fc.constantFrom('balance', 'nonce', 'code', 'state', 'stateDiff', '__proto__'),
      fc.jsonValue(),
    )
    const override = fc.dictionary(fc.constantFrom(address('a'), address('b'), '0x'), account)
    fc.assert(
      fc.property(fc.oneof(fc.jsonValue(), override), (value) => {
        try {
          expect(typeof decode(value)).toBe('object')
        } catch (error) {
          expect(error).toBeInstanceOf(PurserError)
        }
      }),
    )
  })
})
