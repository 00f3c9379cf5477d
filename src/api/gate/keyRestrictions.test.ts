import { describe, expect, test } from 'vitest'
import { KeyRestrictedError } from '../../base/errors/limitErrors.js'
import { unrestricted } from '../../tenants/keyOwner.js'
import { clientIp, contains, requireMethod, requirePlace } from './keyRestrictions.js'

const here = { ip: '203.0.113.7', origin: 'https://dapp.example' }

test('a key without limits is good from anywhere, for every method', () => {
  requirePlace(unrestricted, { ip: 'unknown', origin: undefined })
  requireMethod(unrestricted, 'pm_sponsorUserOperation')
  requireMethod(unrestricted, 'eth_sendUserOperation')
})

test.each([
  ['203.0.113.7', true],
  ['203.0.113.0/24', true],
  ['203.0.114.0/24', false],
  ['::ffff:203.0.113.7', true],
  ['2001:db8::/32', false],
  ['nonsense', false],
])('range %s', (range, good) => {
  expect(contains(range, here.ip)).toBe(good)
  expect(contains(range, `::ffff:${here.ip}`)).toBe(good)
  const check = () => requirePlace({ ...unrestricted, allowedIps: [range] }, here)
  if (good) check()
  else expect(check).toThrow(KeyRestrictedError)
})

test('an origin must be one of the list, none is not', () => {
  const key = { ...unrestricted, allowedOrigins: ['https://dapp.example'] }
  requirePlace(key, here)
  expect(() => requirePlace(key, { ...here, origin: undefined })).toThrow(KeyRestrictedError)
  expect(() => requirePlace(key, { ...here, origin: 'https://dapp.example.evil' })).toThrow(
    KeyRestrictedError,
  )
})

test('scopes and methods both bind, but the first questions are open to every key', () => {
  const bundler = { scopes: ['bundler'], methods: null } as const
  requireMethod(bundler, 'eth_sendUserOperation')
  expect(() => requireMethod(bundler, 'pm_getPaymasterData')).toThrow(KeyRestrictedError)
  const narrow = { scopes: ['paymaster'], methods: ['pm_getPaymasterData'] } as const
  requireMethod(narrow, 'pm_getPaymasterData')
  expect(() => requireMethod(narrow, 'pm_sponsorUserOperation')).toThrow(/pm_sponsor/)
  requireMethod(narrow, 'eth_chainId')
})

describe('clientIp', () => {
  test('is the peer where no proxy is trusted, whatever the caller claims', () => {
    expect(clientIp('198.51.100.1', '10.0.0.1', [])).toBe('198.51.100.1')
    expect(clientIp(undefined, undefined, [])).toBe('unknown')
  })

  test('is the last address before the trusted proxies', () => {
    const claim = '1.1.1.1, 203.0.113.7, 10.0.0.2'
    expect(clientIp('10.0.0.1', claim, ['10.0.0.0/8'])).toBe('203.0.113.7')
    expect(clientIp('10.0.0.1', '10.0.0.9', ['10.0.0.0/8'])).toBe('10.0.0.9')
    expect(clientIp('10.0.0.1', undefined, ['10.0.0.0/8'])).toBe('10.0.0.1')
  })

  test('behind the platforms of deploy/ is no address that the caller claims', () => {
    const onFly = ['172.16.0.0/12', '66.241.124.230', '2a09:8280:1::af:1aa1:0']
    const ofFly = '1.1.1.1, 203.0.113.7, 2a09:8280:1::af:1aa1:0'
    expect(clientIp('172.16.5.6', ofFly, onFly)).toBe('203.0.113.7')
    const ofRender = '1.1.1.1,203.0.113.7, 172.71.95.118, 10.19.64.237'
    expect(clientIp('10.21.157.68', ofRender, ['10.0.0.0/8'])).toBe('172.71.95.118')
  })
})
