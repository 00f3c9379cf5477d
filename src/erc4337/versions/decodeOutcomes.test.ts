import fc from 'fast-check'
import {
  type Address,
  encodeAbiParameters,
  encodeEventTopics,
  type Hex,
  pad,
  parseAbiParameters,
} from 'viem'
import { entryPoint07Abi } from 'viem/account-abstraction'
import { describe, expect, it } from 'vitest'
import { arbitraryBytes } from '../../../test/support/operations/arbitraryOperation.js'
import type { Log } from '../entryPoint.js'
import { decodeOutcomes } from './decodeOutcomes.js'

const ENTRY_POINT: Address = `0x${'e'.repeat(40)}`
const SENDER: Address = `0x${'a'.repeat(40)}`
const PAYMASTER: Address = `0x${'b'.repeat(40)}`
function hash(id: number): Hex {
  return pad(`0x${id.toString(16)}`)
}

function log(topics: readonly Hex[], data: Hex = '0x', address = ENTRY_POINT): Log {
  return {
    address,
    topics,
    data,
    blockNumber: 1n,
    blockHash: hash(77),
    transactionHash: hash(78),
    transactionIndex: 0,
    logIndex: 0,
  }
}

type EventName = 'UserOperationEvent' | 'UserOperationRevertReason' | 'PostOpRevertReason'

function topics(eventName: EventName, args: Record<string, unknown>): Hex[] {
  return encodeEventTopics({ abi: entryPoint07Abi, eventName, args } as never) as Hex[]
}

const beforeExecution = log(
  encodeEventTopics({ abi: entryPoint07Abi, eventName: 'BeforeExecution' }) as Hex[],
)

function userOperationEvent(id: number, success = true, address = ENTRY_POINT): Log {
  return log(
    topics('UserOperationEvent', { userOpHash: hash(id), sender: SENDER, paymaster: PAYMASTER }),
    encodeAbiParameters(parseAbiParameters('uint256, bool, uint256, uint256'), [
      9n,
      success,
      500n,
      50n,
    ]),
    address,
  )
}

function reason(
  eventName: 'UserOperationRevertReason' | 'PostOpRevertReason',
  id: number,
  bytes: Hex,
  address = ENTRY_POINT,
): Log {
  return log(
    topics(eventName, { userOpHash: hash(id), sender: SENDER }),
    encodeAbiParameters(parseAbiParameters('uint256, bytes'), [9n, bytes]),
    address,
  )
}

function transfer(id: number): Log {
  return log([hash(id)], '0x', `0x${'c'.repeat(40)}`)
}

describe('decodeOutcomes', () => {
  it('reads one event whole', () => {
    const event = userOperationEvent(1)
    expect(decodeOutcomes(ENTRY_POINT, [beforeExecution, transfer(5), event])).toEqual([
      {
        userOpHash: hash(1),
        sender: SENDER,
        nonce: 9n,
        paymaster: PAYMASTER,
        success: true,
        actualGasCost: 500n,
        actualGasUsed: 50n,
        reason: '0x',
        event,
        logs: [transfer(5), event],
      },
    ])
  })

  it('gives each operation the logs since the one before, none of validation', () => {
    const logs = [
      transfer(1),
      beforeExecution,
      transfer(2),
      userOperationEvent(1),
      userOperationEvent(2),
      transfer(3),
      transfer(4),
      userOperationEvent(3),
      transfer(5),
    ]
    const own = decodeOutcomes(ENTRY_POINT, logs).map((outcome) => outcome.logs)
    expect(own).toEqual([logs.slice(2, 4), logs.slice(4, 5), logs.slice(5, 8)])
  })

  it('starts anew with the next handleOps call of a transaction', () => {
    const logs = [
      beforeExecution,
      userOperationEvent(1),
      transfer(1),
      beforeExecution,
      userOperationEvent(2),
    ]
    expect(decodeOutcomes(ENTRY_POINT, logs).map((outcome) => outcome.logs.length)).toEqual([1, 1])
  })

  it.each(['UserOperationRevertReason', 'PostOpRevertReason'] as const)(
    'takes the reason from %s',
    (eventName) => {
      const logs = [
        beforeExecution,
        reason(eventName, 1, '0xdeadbeef'),
        userOperationEvent(1, false),
      ]
      expect(decodeOutcomes(ENTRY_POINT, logs)).toMatchObject([
        { success: false, reason: '0xdeadbeef' },
      ])
    },
  )

  it('takes no reason of another operation or another contract', () => {
    const logs = [
      beforeExecution,
      reason('UserOperationRevertReason', 2, '0x01'),
      reason('UserOperationRevertReason', 1, '0x02', SENDER),
      userOperationEvent(1, false),
    ]
    expect(decodeOutcomes(ENTRY_POINT, logs)).toMatchObject([{ reason: '0x' }])
  })

  it('takes the events of another contract for ordinary logs', () => {
    const forged = userOperationEvent(2, true, SENDER)
    const event = userOperationEvent(1)
    const logs = [beforeExecution, forged, { ...beforeExecution, address: SENDER }, event]
    const outcomes = decodeOutcomes(ENTRY_POINT, logs)
    expect(outcomes.map((outcome) => outcome.userOpHash)).toEqual([hash(1)])
    expect(outcomes[0]?.logs).toEqual(logs.slice(1))
  })

  it('never throws on what a node should not send', () => {
    const [topic] = userOperationEvent(1).topics
    const anyTopics = fc.array(fc.constantFrom(topic!, hash(1), '0x' as Hex), { maxLength: 5 })
    fc.assert(
      fc.property(fc.array(fc.tuple(anyTopics, arbitraryBytes())), (parts) => {
        const logs = parts.map(([some, data]) => log(some, data))
        expect(decodeOutcomes(ENTRY_POINT, logs).length).toBeLessThanOrEqual(logs.length)
      }),
    )
  })
})
