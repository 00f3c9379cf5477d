import { expect, test } from 'vitest'
import { RateLimitError } from '../../base/errors/limitErrors.js'
import type { Requester } from '../../base/requester.js'
import { defaultLimits } from '../routeContext.js'
import { createGate, networkOf } from './createGate.js'

const ESTIMATE = 'eth_estimateUserOperationGas'
const off = { perSecond: 0, burst: 0 }
const rates = { key: off, ip: off, sender: off }
const one = { ...defaultLimits.gate, ...rates, simulationsPerKey: 1, simulations: 2 }

test('a simulation above the limit of the key or the process is refused until another one ends', async () => {
  const gate = createGate(one)
  const ends: (() => void)[] = []
  const hold = () => new Promise<void>((resolve) => ends.push(resolve))
  const first = gate.simulate('a', ESTIMATE, hold)
  await expect(gate.simulate('a', ESTIMATE, hold)).rejects.toThrow(RateLimitError)
  const second = gate.simulate('b', ESTIMATE, hold)
  await expect(gate.simulate('c', ESTIMATE, hold)).rejects.toMatchObject({
    status: 429,
    retryAfter: 1,
  })
  for (const end of ends) end()
  await Promise.all([first, second])
  expect(await gate.simulate('a', ESTIMATE, async () => 'ran')).toBe('ran')
  await expect(
    gate.simulate('a', ESTIMATE, () => Promise.reject(new Error('broke'))),
  ).rejects.toThrow('broke')
  expect(await gate.simulate('a', ESTIMATE, async () => 'ran')).toBe('ran')
})

test('an address with many wrong credentials is held up, a right credential is not', () => {
  const gate = createGate({ ...one, failures: { perSecond: 0.001, burst: 3 } })
  gate.credentialWasRight('good')
  for (let count = 0; count < 3; count++) {
    gate.tryCredential('1.1.1.1', `wrong ${count}`)
    gate.credentialWasWrong('1.1.1.1')
  }
  expect(() => gate.tryCredential('1.1.1.1', 'wrong')).toThrow(RateLimitError)
  gate.tryCredential('1.1.1.1', 'good')
  gate.tryCredential('2.2.2.2', 'wrong')
})

test('a call takes its method’s cost from the key, and from sender and key together', () => {
  const gate = createGate({
    ...one,
    key: { perSecond: 0.001, burst: 12 },
    sender: { perSecond: 0.001, burst: 5 },
  })
  gate.call('a', 'eth_sendUserOperation')
  gate.call('a', 'eth_sendUserOperation')
  expect(() => gate.call('a', 'eth_sendUserOperation')).toThrow('API key')
  gate.call('a', 'eth_chainId')
  gate.call('b', 'pm_sponsorUserOperation')
  gate.about('a', '0x1', 'eth_sendUserOperation')
  expect(() => gate.about('a', '0x1', 'eth_sendUserOperation')).toThrow('sender')
  gate.about('b', '0x1', 'eth_sendUserOperation')
  gate.about('a', '0x2', 'eth_sendUserOperation')
})

test('a simulation takes a unit of the key for each millisecond beyond the method’s cost', async () => {
  const gate = createGate({ ...one, key: { perSecond: 0.001, burst: 100 } })
  const spend = (milliseconds: number) => async (by: Requester) => by.spend(milliseconds)
  await gate.simulate('a', ESTIMATE, spend(5.9))
  await gate.simulate('a', ESTIMATE, spend(104))
  gate.call('a', 'eth_chainId')
  expect(() => gate.call('a', 'eth_chainId')).toThrow('API key')
  gate.call('b', 'eth_chainId')
  await gate.simulate('b', ESTIMATE, spend(1_105))
  expect(() => gate.call('b', 'eth_chainId')).toThrow(/Try again in 100\d{4} s/)
})

test('a key has eight heavy simulations at once; the next is refused until one ends', async () => {
  const gate = createGate({ ...one, simulationsPerKey: 0, simulations: 0 })
  const ends: (() => void)[] = []
  const heavy = async (requester: Requester) => {
    requester.beginHeavyWork()
    requester.beginHeavyWork()
    await new Promise<void>((resolve) => ends.push(resolve))
  }
  const eight = Array.from({ length: 8 }, () => gate.simulate('a', ESTIMATE, heavy))
  const refused = { limit: 'heavySimulations', code: -32_005, status: 429, retryAfter: 5 }
  await expect(gate.simulate('a', ESTIMATE, heavy)).rejects.toMatchObject(refused)
  const other = gate.simulate('b', ESTIMATE, heavy)
  expect(await gate.simulate('a', ESTIMATE, async () => 'light')).toBe('light')
  for (const end of ends.splice(0)) end()
  await Promise.all([...eight, other])
  const again = gate.simulate('a', ESTIMATE, heavy)
  expect(ends).toHaveLength(1)
  ends[0]?.()
  await again
})

test('what goes on after its request has ended begins no heavy simulation', async () => {
  const gate = createGate(one)
  let ended: Requester | undefined
  await gate.simulate('a', ESTIMATE, async (requester) => {
    ended = requester
  })
  expect(() => ended?.beginHeavyWork()).toThrow('too many simulations')
})

test.each([
  ['192.0.2.1', '192.0.2.1'],
  ['::ffff:192.0.2.1', '192.0.2.1'],
  ['2001:db8:1:2::1', '2001:db8:1:2::/64'],
  ['2001:db8:1:2:ffff:ffff:ffff:ffff', '2001:db8:1:2::/64'],
  ['2001:db8:1:3::1', '2001:db8:1:3::/64'],
  ['::1', '0:0:0:0::/64'],
  ['unknown', 'unknown'],
])('%s counts as %s', (ip, network) => {
  expect(networkOf(ip)).toBe(network)
})
