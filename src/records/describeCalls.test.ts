import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import { expect, test } from 'vitest'
import { describeCalls } from './describeCalls.js'

const account = parseAbi([
  'function execute(address to, uint256 value, bytes data)',
  'function executeBatch(address[] to, uint256[] value, bytes[] data)',
])
const token = parseAbi([
  'function transfer(address to, uint256 amount)',
  'function safeBatchTransferFrom(address from, address to, uint256[] ids, uint256[] amounts, bytes data)',
])
const target = `0x${'11'.repeat(20)}` as const
const friend = `0x${'22'.repeat(20)}` as const

function executing(data: Hex): Hex {
  return encodeFunctionData({ abi: account, functionName: 'execute', args: [target, 5n, data] })
}

test('a batch shows a transfer by name and a call of an unknown function by its selector', () => {
  const transfer = encodeFunctionData({ abi: token, functionName: 'transfer', args: [friend, 7n] })
  const callData = encodeFunctionData({
    abi: account,
    functionName: 'executeBatch',
    args: [
      [target, friend],
      [0n, 1n],
      [transfer, '0x12345678'],
    ],
  })
  expect(describeCalls(callData)).toEqual([
    {
      to: target,
      value: 0n,
      data: transfer,
      delegate: false,
      delegator: null,
      function: {
        signature: 'transfer(address,uint256)',
        args: [
          { name: 'to', value: friend },
          { name: 'amount', value: '7' },
        ],
      },
    },
    { to: friend, value: 1n, data: '0x12345678', delegate: false, delegator: null, function: null },
  ])
})

test('lists are shown whole, and arguments that make no sense leave the function unknown', () => {
  const data = encodeFunctionData({
    abi: token,
    functionName: 'safeBatchTransferFrom',
    args: [target, friend, [1n, 2n], [3n, 4n], '0xab'],
  })
  const values = describeCalls(executing(data))?.[0]?.function?.args.map(({ value }) => value)
  expect(values).toEqual([target, friend, '1,2', '3,4', '0xab'])
  expect(describeCalls(executing(data.slice(0, -64) as Hex))?.[0]?.function).toBeNull()
  expect(describeCalls(executing('0xa9059cbb'))?.[0]?.function).toBeNull()
  expect(describeCalls(executing('0xd0e30db0'))?.[0]?.function).toEqual({
    signature: 'deposit()',
    args: [],
  })
})

test('call data of an unknown account is not described', () => {
  expect(describeCalls('0xdeadbeef00')).toBeUndefined()
  expect(describeCalls('0x')).toEqual([])
})
