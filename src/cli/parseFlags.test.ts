import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { formatEther, getAddress, parseEther } from 'viem'
import { describe, expect, test } from 'vitest'
import { ConfigError } from '../base/errors/configError.js'
import { parseAddress, parseAmount, parseKey, parseName } from './parseFlags.js'

describe('parseName', () => {
  test.each([
    'O\'Brien "&" <b>',
    "'; drop table accounts; --",
    'smörgåsbord 中文 \u{1F468}\u200D\u{1F469}',
    'x'.repeat(100),
  ])('may be odd: %s', (name) => {
    expect(parseName(`  ${name} `)).toBe(name)
  })

  test.each(['', '   ', 'two\nlines', 'two\u2028lines', '\u001b[31mred', 'x'.repeat(101)])(
    'may not be %j',
    (name) => {
      expect(() => parseName(name)).toThrow(ConfigError)
    },
  )
})

describe('parseAmount', () => {
  test('takes every amount of wei as formatEther writes it', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: 1n, max: parseEther('999999999999') }), (wei) => {
        expect(parseAmount(formatEther(wei))).toBe(wei)
      }),
    )
  })

  test.each([
    '0',
    '0.0',
    '-1',
    '+1',
    '1e18',
    '0x1',
    '',
    'all',
    '1.',
    '.5',
    '1,5',
    ' 1',
    '1 ',
    '0.0000000000000000001',
    '1000000000000',
    '１',
  ])('refuses %j', (amount) => {
    expect(() => parseAmount(amount)).toThrow('--amount')
  })
})

describe('parseKey', () => {
  const key = `0x${'1f'.repeat(32)}`

  test('takes a key, the name of its variable or the path of its file', () => {
    expect(parseKey(key, {})).toBe(key)
    expect(parseKey('env:PAYER', { PAYER: key })).toBe(key)
    const folder = mkdtempSync(join(tmpdir(), 'purser-key-'))
    writeFileSync(join(folder, 'key'), `${key}\n`)
    expect(parseKey(`file:${join(folder, 'key')}`, {})).toBe(key)
    rmSync(folder, { recursive: true })
  })

  test('takes where a key is, as executorKeys do', () => {
    const turnkey = { organizationId: 'o', address: `0x${'ab'.repeat(20)}` }
    const environment = { PAYER: JSON.stringify({ turnkey }), TURNKEY_API_PRIVATE_KEY: '12' }
    const credentials = { apiPrivateKey: '12' }
    expect(parseKey('env:PAYER', environment)).toEqual({
      services: [{ kind: 'turnkey', ...turnkey, credentials }],
    })
    expect(() => parseKey('env:PAYER', { PAYER: environment.PAYER })).toThrow(
      'TURNKEY_API_PRIVATE_KEY must be set',
    )
    expect(() => parseKey('{"turnkey":{}}', {})).toThrow('--key')
  })

  test.each([key.slice(2), `${key}0`, '0x12', '', 'env:', 'env:NONE', 'env:WRONG', 'file:/none'])(
    'refuses %s and does not show it',
    (given) => {
      const attempt = () => parseKey(given, { WRONG: '0xsecret' })
      expect(attempt).toThrow('--key')
      expect(attempt).not.toThrow('secret')
    },
  )
})

describe('parseAddress', () => {
  const address = `0x${'ab'.repeat(20)}` as const

  test('takes lower case and the right checksum', () => {
    expect(parseAddress('--to', address)).toBe(address)
    expect(parseAddress('--to', getAddress(address))).toBe(address)
  })

  test.each(['0x12', '', `0x${'aB'.repeat(20)}`])('refuses %s, naming the flag', (given) => {
    expect(() => parseAddress('--to', given)).toThrow('--to')
  })
})
