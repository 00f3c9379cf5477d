import { expect, test } from 'vitest'
import { RateLimitError } from '../../errors/limitErrors.js'
import { gateLimits } from '../limits.js'
import { createGate } from './createGate.js'

const off = { key: 0, ip: 0, sender: 0 }
const one = { ...gateLimits(off, { perKey: 1, all: 2 }) }

test('a simulation more than the key or the process may run is refused, and room comes back', async () => {
  const gate = createGate(one)
  const ends: (() => void)[] = []
  const hold = () => new Promise<void>((resolve) => ends.push(resolve))
  const first = gate.simulate('a', hold)
  await expect(gate.simulate('a', hold)).rejects.toThrow(RateLimitError)
  const second = gate.simulate('b', hold)
  await expect(gate.simulate('c', hold)).rejects.toMatchObject({ status: 429, retryAfter: 1 })
  for (const end of ends) end()
  await Promise.all([first, second])
  expect(await gate.simulate('a', async () => 'ran')).toBe('ran')
  await expect(gate.simulate('a', () => Promise.reject(new Error('broke')))).rejects.toThrow(
    'broke',
  )
  expect(await gate.simulate('a', async () => 'ran')).toBe('ran')
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
