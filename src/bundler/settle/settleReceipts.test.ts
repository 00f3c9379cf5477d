import {
  type Address,
  encodeAbiParameters,
  type Hex,
  pad,
  toEventSelector,
  zeroAddress,
} from 'viem'
import { expect, test } from 'vitest'
import {
  alice,
  bob,
  entryPoint,
  inclusionOf,
} from '../../../test/support/operations/inclusionOf.js'
import type { Included } from '../../erc4337/entryPoint.js'
import { paidOperations } from './settleReceipts.js'

const tank: Address = `0x${'7b'.repeat(20)}`
const hash: Hex = `0x${'12'.repeat(32)}`
const topic = toEventSelector('TokensPaid(bytes32,address,address,uint256,uint256)')
const slot = { sender: alice, nonce: 0n, entryPoint }

function included(address: Address, userOpHash = hash, data?: Hex): Included {
  const plain = inclusionOf({ slot, hash, cost: 7n, block: 5n, paymaster: tank })
  const amounts = encodeAbiParameters([{ type: 'uint256' }, { type: 'uint256' }], [80n, 9n])
  const topics = [topic, userOpHash, pad(alice), pad(bob)]
  const log = { ...plain.outcome.event, address, topics, data: data ?? amounts }
  return { ...plain, outcome: { ...plain.outcome, logs: [log, plain.outcome.event] } }
}

test('reads what the tank itself says of the operation', () => {
  expect(paidOperations([included(tank)])).toEqual([
    {
      entryPoint,
      userOpHash: hash,
      paymaster: tank,
      sender: alice,
      nonce: 0n,
      actualGasCost: 7n,
      blockNumber: 5n,
      taken: { token: bob, charged: 80n, cost: 9n },
    },
  ])
})

test.each([
  ['what another contract says', included(bob)],
  ['what it says of another operation', included(tank, `0x${'13'.repeat(32)}`)],
  ['a log of another shape', included(tank, hash, '0x')],
])('%s counts for nothing', (_, inclusions) => {
  expect(paidOperations([inclusions])).toMatchObject([{ taken: undefined }])
})

test('an operation without paymaster is nobody’s payment', () => {
  const inclusions = included(tank)
  const outcome = { ...inclusions.outcome, paymaster: zeroAddress }
  expect(paidOperations([{ ...inclusions, outcome }])).toEqual([])
})
