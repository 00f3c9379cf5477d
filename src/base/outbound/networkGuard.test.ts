import { describe, expect, test } from 'vitest'
import { createNetworkGuard, loopback } from './networkGuard.js'

const closed = createNetworkGuard([])
const development = createNetworkGuard(loopback)
const office = createNetworkGuard([
  '10.1.0.0/16',
  'fd00:1::/32',
  'Approver.Internal',
  '10.2.0.9',
  'fd00:2::7',
])

describe('refuseUrl with nothing allowed', () => {
  test.each([
    'https://example.com/hook?x=1',
    'https://example.com:8443/',
    'https://8.8.8.8/',
    'https://[2606:4700::1]/',
  ])('lets %s pass', (url) => {
    expect(closed.refuseUrl(new URL(url))).toBeUndefined()
  })

  test.each([
    ['loopback', 'https://127.0.0.1/'],
    ['decimal loopback', 'https://2130706433/'],
    ['hexadecimal loopback', 'https://0x7f.1/'],
    ['octal loopback', 'https://017700000001/'],
    ['short loopback', 'https://127.1/'],
    ['loopback in circled digits', 'https://①②⑦.0.0.1/'],
    ['IPv6 loopback', 'https://[::1]/'],
    ['IPv6-mapped loopback', 'https://[::ffff:127.0.0.1]/'],
    ['IPv4-compatible IPv6 loopback', 'https://[::127.0.0.1]/'],
    ['NAT64 of loopback', 'https://[64:ff9b::7f00:1]/'],
    ['6to4 of loopback', 'https://[2002:7f00:1::]/'],
    ['cloud metadata', 'https://169.254.169.254/latest/meta-data'],
    ['cloud metadata over IPv6', 'https://[fd00:ec2::254]/'],
    ['private 10/8', 'https://10.0.0.1/'],
    ['private 172.16/12', 'https://172.20.1.1/'],
    ['private 192.168/16', 'https://192.168.1.1/'],
    ['carrier-grade NAT', 'https://100.64.0.1/'],
    ['this network', 'https://0.0.0.0/'],
    ['broadcast', 'https://255.255.255.255/'],
    ['multicast', 'https://224.0.0.1/'],
    ['link-local IPv6', 'https://[fe80::1]/'],
    ['unassigned IPv6', 'https://[::2]/'],
    ['final dot behind a loopback literal', 'https://127.0.0.1./'],
  ])('refuses %s', (_, url) => {
    expect(closed.refuseUrl(new URL(url))).toMatch(/not on the public internet/)
  })

  test('refuses http', () => {
    expect(closed.refuseUrl(new URL('http://example.com/'))).toMatch(/must be https/)
  })

  test('refuses other schemes', () => {
    expect(closed.refuseUrl(new URL('ftp://example.com/'))).toMatch(/must be https/)
    expect(closed.refuseUrl(new URL('file:///etc/passwd'))).toMatch(/must be https/)
  })

  test('refuses a user name or password', () => {
    expect(closed.refuseUrl(new URL('https://user@example.com/'))).toMatch(/user name/)
    expect(closed.refuseUrl(new URL('https://:secret@example.com/'))).toMatch(/password/)
  })

  test.each([22, 25, 1023])('refuses the privileged port %d', (port) => {
    expect(closed.refuseUrl(new URL(`https://example.com:${port}/`))).toMatch(/port/)
  })
})

describe('the allow list', () => {
  test('opens loopback for development, with http and any port', () => {
    for (const url of ['http://127.0.0.1:3000/', 'http://localhost:1/', 'http://[::1]:80/']) {
      expect(development.refuseUrl(new URL(url))).toBeUndefined()
    }
    expect(development.refuseUrl(new URL('http://LOCALHOST./'))).toBeUndefined()
    expect(development.refuseUrl(new URL('https://10.0.0.1/'))).toMatch(/not on the public/)
  })

  test('opens blocks and names of a private network, and only these', () => {
    expect(office.refuseUrl(new URL('http://10.1.2.3/'))).toBeUndefined()
    expect(office.refuseUrl(new URL('http://[fd00:1::5]/'))).toBeUndefined()
    expect(office.refuseUrl(new URL('http://approver.internal:22/'))).toBeUndefined()
    expect(office.refuseUrl(new URL('http://10.2.0.9/'))).toBeUndefined()
    expect(office.refuseUrl(new URL('http://[fd00:2:0::7]/'))).toBeUndefined()
    expect(office.refuseUrl(new URL('http://10.2.0.8/'))).toBeDefined()
    expect(office.refuseUrl(new URL('http://x.approver.internal/'))).toBeDefined()
  })

  test('opens what an allowed name resolves to, and any name that resolves into a block', () => {
    expect(office.refuseAddress('192.168.0.1', 'approver.internal')).toBeUndefined()
    expect(office.refuseAddress('10.1.255.255', 'anything.example')).toBeUndefined()
    expect(office.refuseAddress('::ffff:10.1.0.1', 'anything.example')).toBeUndefined()
    expect(office.refuseAddress('10.2.0.1', 'anything.example')).toMatch(/not on the public/)
  })

  test.each(['10.0.0.0/33', 'http://x', 'a b', 'host:80', 'host/path'])('rejects %s', (entry) => {
    expect(() => createNetworkGuard([entry])).toThrow(TypeError)
  })
})

describe('refuseAddress', () => {
  test('lets public answers pass and refuses all others', () => {
    expect(closed.refuseAddress('93.184.216.34', 'example.com')).toBeUndefined()
    expect(closed.refuseAddress('2606:4700::1', 'example.com')).toBeUndefined()
    for (const ip of ['127.0.0.1', '::1', '10.0.0.1', '::ffff:10.0.0.1', 'fe80::1%eth0']) {
      expect(closed.refuseAddress(ip, 'rebind.example')).toMatch(/rebind\.example/)
    }
  })
})
