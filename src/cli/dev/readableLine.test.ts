import { expect, test } from 'vitest'
import { readableLine } from './readableLine.js'

const time = new Date(2026, 10, 24, 15, 25, 20).getTime()
const line = (rest: object) =>
  readableLine(JSON.stringify({ level: 30, time, name: 'purser', ...rest }))

test('an event is one short line: time, words, hashes in short, wei as ether', () => {
  const hash = `0x0dee${'0'.repeat(56)}7bfd`
  const text = line({ chainId: 1, ops: [hash], cost: '390000000000000', msg: 'bundle included' })
  expect(text).toBe('15:25:20 bundle included ops 0x0dee…7bfd cost 0.00039 ETH')
})

test('a message stands for itself, fees are in gwei, limits are left out', () => {
  const facts = {
    code: 'SPONSORED',
    message: 'Sponsored up to 1 ETH.',
    limits: { callGasLimit: 1 },
  }
  const text = line({ sponsored: true, ...facts, maxFeePerGas: '1500000000', msg: 'sponsored' })
  expect(text).toBe(
    '15:25:20 sponsored code SPONSORED Sponsored up to 1 ETH. maxFeePerGas 1.5 gwei',
  )
})

test('what is wrong is marked, with its reason', () => {
  expect(line({ level: 40, msg: 'node did not answer', reason: 'ECONNREFUSED' })).toBe(
    '15:25:20 warning: node did not answer reason ECONNREFUSED',
  )
  expect(line({ level: 50, msg: 'it failed', err: { message: 'no' } })).toBe(
    '15:25:20 error: it failed (no)',
  )
})

test('other text stays as it is', () => {
  expect(readableLine('Purser is ready.')).toBe('Purser is ready.')
  expect(readableLine('{"a":1}')).toBe('{"a":1}')
})
