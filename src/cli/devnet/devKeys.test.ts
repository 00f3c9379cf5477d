import { bytesToHex } from 'viem'
import { mnemonicToAccount } from 'viem/accounts'
import { describe, expect, test } from 'vitest'
import { devKey } from './devKeys.js'

/** anvil's default, which is public. */
const MNEMONIC = 'test test test test test test test test test test test junk'

describe('devKey', () => {
  test.each([...Array(10).keys()])('is that of account %i of the mnemonic', (addressIndex) => {
    const { privateKey } = mnemonicToAccount(MNEMONIC, { addressIndex }).getHdKey()
    expect(devKey(addressIndex)).toBe(bytesToHex(privateKey ?? new Uint8Array()))
  })

  test('is refused for an account that anvil does not have', () => {
    expect(() => devKey(10)).toThrow('10')
  })
})
