import { beforeAll, describe, expect, test } from 'vitest'
import { describedResult as result } from '../support/http/describedRpc.js'
import type { Json } from '../support/http/jsonRpc.js'
import { devAccount, receiptOf, TARGET } from '../support/service/devAccount.js'
import { usePurser } from '../support/service/usePurser.js'

const info = usePurser()

const hash32 = /^0x[0-9a-f]{64}$/
const address = /^0x[0-9a-fA-F]{40}$/
const hex = /^0x([0-9a-f]{2})*$/
const bigNumber = { _hex: expect.stringMatching(/^0x[0-9a-f]+$/), _isBigNumber: true }

function isHash(value: unknown) {
  return expect(value).toMatch(hash32)
}
function isAddress(value: unknown) {
  return expect(value).toMatch(address)
}
function isHex(value: unknown) {
  return expect(value).toMatch(hex)
}
function isInteger(value: unknown) {
  return expect(Number.isSafeInteger(value)).toBe(true)
}
function isBigNumber(value: unknown) {
  return expect(value).toEqual(bigNumber)
}

let receipt: Json
let chainReceipt: Json
let sent: { sender: string; hash: string }

beforeAll(async () => {
  const { selfPaid, send, client } = await devAccount(info(), 'receipt')
  const op = await selfPaid({ to: TARGET, data: '0x01' })
  const hash = await send(op)
  receipt = await receiptOf(info(), hash)
  sent = { sender: op.sender, hash }
  chainReceipt = await client.getTransactionReceipt({ hash: receipt.receipt.transactionHash })
})

describe('UserOperation receipt (eth_getUserOperationReceipt result)', () => {
  test('userOpHash', () => expect(receipt.userOpHash).toBe(sent.hash))
  test('entryPoint', () =>
    expect(receipt.entryPoint.toLowerCase()).toBe(info().entryPoints['0.6']?.toLowerCase()))
  test('sender', () => expect(receipt.sender.toLowerCase()).toBe(sent.sender.toLowerCase()))
  test('nonce: number', () => expect(receipt.nonce).toBe(0))
  test('success: string holding a boolean', () => expect(receipt.success).toBe('true'))
  test('paymaster: the zero address when none paid', () =>
    expect(receipt.paymaster).toBe(`0x${'0'.repeat(40)}`))
  test('actualGasCost and actualGasUsed: numbers that agree with the chain', () => {
    isInteger(receipt.actualGasUsed)
    const price = Number(chainReceipt.effectiveGasPrice)
    expect(Number(receipt.actualGasCost) / receipt.actualGasUsed).toBeGreaterThanOrEqual(
      price * 0.9,
    )
  })
  test("logs: the operation's own UserOperationEvent", () => {
    expect(receipt.logs).toHaveLength(1)
    expect(receipt.logs[0].topics[1]).toBe(sent.hash)
  })

  test('nonce: one beyond 2^53 loses nothing', async () => {
    const { selfPaid, send } = await devAccount(info(), 'wide nonce')
    const op = await selfPaid({ to: TARGET }, 5n)
    const wide = await receiptOf(info(), await send(op))
    expect(op.nonce).toBe(5n << 64n)
    expect(BigInt(wide.nonce)).toBe(op.nonce)
  })
})

describe('Log', () => {
  test.each([
    ['transactionIndex', isInteger],
    ['blockNumber', isInteger],
    ['transactionHash', isHash],
    ['address', isAddress],
    ['data', isHex],
    ['logIndex', isInteger],
    ['blockHash', isHash],
  ] as const)('%s', (field, check) => {
    for (const log of [...receipt.logs, ...receipt.receipt.logs]) check(log[field])
  })
  test('topics: array of 32-byte hex strings', () => {
    for (const log of [...receipt.logs, ...receipt.receipt.logs]) {
      expect(log.topics.length).toBeGreaterThan(0)
      for (const topic of log.topics) isHash(topic)
    }
  })
})

describe('Transaction receipt', () => {
  test.each([
    ['to', isAddress],
    ['from', isAddress],
    ['transactionIndex', isInteger],
    ['gasUsed', isBigNumber],
    ['logsBloom', isHex],
    ['blockHash', isHash],
    ['transactionHash', isHash],
    ['blockNumber', isInteger],
    ['confirmations', isInteger],
    ['cumulativeGasUsed', isBigNumber],
    ['effectiveGasPrice', isBigNumber],
    ['status', isInteger],
    ['type', isInteger],
  ] as const)('%s', (field, check) => check(receipt.receipt[field]))

  test('contractAddress: null', () => expect(receipt.receipt.contractAddress).toBeNull())
  test('byzantium: boolean', () => expect(receipt.receipt.byzantium).toBe(true))
  test('logs: all logs of the transaction', () =>
    expect(receipt.receipt.logs).toHaveLength(chainReceipt.logs.length))
  test('figures agree with the chain', () => {
    expect(BigInt(receipt.receipt.gasUsed._hex)).toBe(chainReceipt.gasUsed)
    expect(BigInt(receipt.receipt.effectiveGasPrice._hex)).toBe(chainReceipt.effectiveGasPrice)
    expect(receipt.receipt.blockHash).toBe(chainReceipt.blockHash)
    expect(receipt.receipt.status).toBe(1)
  })
})

describe('methods other than the receipt', () => {
  test('biconomy_getUserOperationStatus tells the state and the transaction', async () => {
    const status = await result(info().bundlerUrl, 'biconomy_getUserOperationStatus', [sent.hash])
    expect(status.state).toBe('CONFIRMED')
    expect(status.transactionHash).toBe(receipt.receipt.transactionHash)
  })

  test('eth_getUserOperationByHash gives the operation and its block', async () => {
    const found = await result(info().bundlerUrl, 'eth_getUserOperationByHash', [sent.hash])
    expect(found.userOperation.sender.toLowerCase()).toBe(sent.sender.toLowerCase())
    expect(found.transactionHash).toBe(receipt.receipt.transactionHash)
    expect(Number(found.blockNumber)).toBe(receipt.receipt.blockNumber)
  })

  test('biconomy_getGasFeeValues gives flat fees and tiers', async () => {
    const fees = await result(info().bundlerUrl, 'biconomy_getGasFeeValues', [])
    expect(fees.maxFeePerGas).toMatch(/^\d+$/)
    expect(fees.maxPriorityFeePerGas).toMatch(/^\d+$/)
    for (const tier of ['slow', 'standard', 'fast']) {
      expect(BigInt(fees[tier].maxFeePerGas)).toBeGreaterThan(0n)
    }
  })

  test('the standard dialect gives the same receipt in hex and booleans', async () => {
    const standard = await receiptOf(info(), sent.hash as `0x${string}`, info().standardUrl)
    expect(standard.success).toBe(true)
    expect(standard.actualGasUsed).toMatch(/^0x/)
    expect(BigInt(standard.actualGasUsed)).toBe(BigInt(receipt.actualGasUsed))
  })
})
