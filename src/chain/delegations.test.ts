import { expect, test } from 'vitest'
import { delegateOf } from './delegations.js'

const delegate = `0x${'ab'.repeat(20)}` as const

test('a designator names the delegate', () => {
  expect(delegateOf(`0xef0100${'ab'.repeat(20)}`)).toBe(delegate)
})

test.each(['0x', '0xef0100', `0xef0100${'ab'.repeat(19)}`, `0xef0100${'ab'.repeat(21)}`] as const)(
  '%s is none',
  (code) => {
    expect(delegateOf(code)).toBeUndefined()
  },
)

test('neither is contract code of its length', () => {
  expect(delegateOf(`0x600100${'ab'.repeat(20)}`)).toBeUndefined()
})
