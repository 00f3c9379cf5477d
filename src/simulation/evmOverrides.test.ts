import { expect, test } from 'vitest'
import { authorizationOverride, mergeOverrides, toEvmOverrides } from './evmOverrides.js'

const sender = '0x00000000000000000000000000000000000000aa'
function word(digits: string) {
  return `0x${digits.padStart(64, '0')}` as const
}

test('hex becomes numbers and bytes, slots get their full length', () => {
  const overrides = toEvmOverrides({
    '0x00000000000000000000000000000000000000AA': {
      balance: '0x10',
      nonce: '0x2',
      code: '0x6001',
      stateDiff: { '0x0A': '0x05' },
    },
    '0x00000000000000000000000000000000000000bb': { state: {} },
  })
  expect([...overrides]).toEqual([
    [
      sender,
      {
        balance: 16n,
        nonce: 2n,
        code: new Uint8Array([0x60, 1]),
        stateDiff: new Map([[word('a'), 5n]]),
      },
    ],
    ['0x00000000000000000000000000000000000000bb', { state: new Map() }],
  ])
})

test('an authorization gives the sender the code of a delegate, and takes a nonce', () => {
  const signed = { chainId: 1, nonce: 6n, yParity: 0, r: '0x1', s: '0x1' } as const
  const under = (address: `0x${string}`) =>
    authorizationOverride({ sender, authorization: { ...signed, address } })
  expect(under('0x00000000000000000000000000000000000000dd')).toEqual({
    [sender]: { code: '0xef010000000000000000000000000000000000000000dd', nonce: '0x7' },
  })
  expect(under('0x0000000000000000000000000000000000000000')).toEqual({
    [sender]: { code: '0x', nonce: '0x7' },
  })
  expect(authorizationOverride({ sender, authorization: undefined })).toEqual({})
})

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
