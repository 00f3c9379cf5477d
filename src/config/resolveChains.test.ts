import { expect, test } from 'vitest'
import { chainEntry } from './chainPresets.js'
import { resolveChains } from './resolveChains.js'

const chain = { chainId: 1, rpcUrls: ['http://127.0.0.1:8545'], executorKeys: ['env:EXECUTOR'] }
const environment = { EXECUTOR: `0x${'11'.repeat(32)}`, RELAY: `0x${'22'.repeat(32)}` }
const relay = {
  way: 'private',
  url: 'https://relay.example',
  authKey: 'env:RELAY',
  publicAfter: 25,
}

function sendingOf(sending: unknown, role: 'bundler' | 'api' = 'bundler') {
  const parsed = chainEntry.parse({ ...chain, ...(sending !== undefined && { sending }) })
  return resolveChains([parsed], environment, [role])[0]?.sending
}

test('bundles are public where nothing else is said, and in a process that sends none', () => {
  expect(sendingOf(undefined)).toEqual({ way: 'public' })
  expect(sendingOf(relay, 'api')).toEqual({ way: 'public' })
})

test("a relay has a method, and a key of its own from the process' environment", () => {
  const method = 'eth_sendPrivateTransaction'
  expect(sendingOf(relay)).toEqual({ ...relay, method, authKey: environment.RELAY })
  expect(() => sendingOf({ ...relay, authKey: 'env:NOBODY' })).toThrow(/NOBODY must hold/)
})

test.each([
  ['no number of blocks', { ...relay, publicAfter: undefined }],
  ['a private relay without a URL', { ...relay, url: undefined }],
  ['a method that is none', { ...relay, method: 'eth_sendBundle' }],
  ['a way that does not exist', { way: 'pigeon' }],
])('%s is refused', (_, sending) => {
  expect(chainEntry.safeParse({ ...chain, sending }).success).toBe(false)
})
