import fc from 'fast-check'
import { type Address, encodeFunctionData, type Hex, maxUint256, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import { approvedBy } from './tokenCase.js'

const abi = parseAbi([
  'function execute(address to, uint256 value, bytes data)',
  'function executeBatch(address[] to, bytes[] data)',
  'function approve(address spender, uint256 amount)',
  'function increaseAllowance(address spender, uint256 amount)',
  'function multicall(bytes[] data)',
])
const token: Address = `0x${'70'.repeat(20)}`
const tank: Address = `0x${'7a'.repeat(20)}`
const other: Address = `0x${'0e'.repeat(20)}`

function approve(spender: Address, amount: bigint) {
  return encodeFunctionData({ abi, functionName: 'approve', args: [spender, amount] })
}
function batch(...calls: [to: Address, data: Hex][]) {
  return encodeFunctionData({
    abi,
    functionName: 'executeBatch',
    args: [calls.map(([to]) => to), calls.map(([, data]) => data)],
  })
}

test('an approval in a batch counts with its amount, whatever stood before', () => {
  const calls = batch([token, approve(tank, 70n)], [other, '0x1234'])
  expect(approvedBy(calls, token, tank, 5n)).toBe(70n)
})

test('of several approvals the last counts, so a revocation does too', () => {
  const calls = batch([token, approve(tank, 70n)], [token, approve(tank, 0n)])
  expect(approvedBy(calls, token, tank, 5n)).toBe(0n)
})

test('an increase adds to what stands', () => {
  const data = encodeFunctionData({ abi, functionName: 'increaseAllowance', args: [tank, 7n] })
  expect(approvedBy(batch([token, data]), token, tank, 5n)).toBe(12n)
  expect(approvedBy(batch([token, data]), token, tank, maxUint256)).toBe(maxUint256)
})

test.each([
  ['of another token', batch([other, approve(tank, 70n)])],
  ['for another spender', batch([token, approve(other, 70n)])],
  ['cut off', batch([token, approve(tank, 70n).slice(0, 80) as Hex])],
])('an approval %s is none', (_, calls) => {
  expect(approvedBy(calls, token, tank, 5n)).toBe(5n)
})

test('no call at all leaves what stands', () => {
  expect(approvedBy('0x', token, tank, 5n)).toBe(5n)
})

test('what cannot be read is unknown', () => {
  const nested = encodeFunctionData({ abi, functionName: 'multicall', args: [[]] })
  const calls = encodeFunctionData({ abi, functionName: 'execute', args: [other, 0n, nested] })
  expect(approvedBy(calls, token, tank, 5n)).toBeUndefined()
  expect(approvedBy('0xdeadbeef00', token, tank, 5n)).toBeUndefined()
})

test('any call data is read without an exception', () => {
  const data = fc.uint8Array({ maxLength: 300 }).map((bytes) => Buffer.from(bytes).toString('hex'))
  fc.assert(
    fc.property(data, (hex) => {
      const approved = approvedBy(`0x${hex}`, token, tank, 5n)
      expect(approved === undefined || approved >= 0n).toBe(true)
    }),
  )
})
