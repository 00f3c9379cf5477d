import { expect, test } from 'vitest'
import { authorizationOverride, toEvmOverrides } from './evmOverrides.js'

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
