import { expect, test } from 'vitest'
import { mergeOverrides } from './mergeOverrides.js'

const a = '0x00000000000000000000000000000000000000aa'
const b = '0x00000000000000000000000000000000000000bb'

test('accounts of both sides are kept and the stronger wins field by field', () => {
  expect(
    mergeOverrides(
      { [a]: { balance: '0x1', nonce: '0x1' }, [b]: { balance: '0x2' } },
      { [a]: { balance: '0x3', code: '0xfe' } },
    ),
  ).toEqual({ [a]: { balance: '0x3', nonce: '0x1', code: '0xfe' }, [b]: { balance: '0x2' } })
})

test('slots of both sides are kept and the stronger wins slot by slot', () => {
  expect(
    mergeOverrides(
      { [a]: { stateDiff: { '0x01': '0x11', '0x02': '0x12' } } },
      { [a]: { stateDiff: { '0x02': '0x22' } } },
    ),
  ).toEqual({ [a]: { stateDiff: { '0x01': '0x11', '0x02': '0x22' } } })
})

test('a difference joins the whole state of the other side, whichever is stronger', () => {
  const state = { [a]: { state: { '0x01': '0x11' } } } as const
  const difference = { [a]: { stateDiff: { '0x01': '0x21', '0x02': '0x22' } } } as const
  expect(mergeOverrides(difference, state)).toEqual({
    [a]: { state: { '0x01': '0x11', '0x02': '0x22' } },
  })
  expect(mergeOverrides(state, difference)).toEqual({
    [a]: { state: { '0x01': '0x21', '0x02': '0x22' } },
  })
})
