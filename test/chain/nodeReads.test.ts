import { privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { ethCall } from '../../src/chain/ethCall.js'
import { createNodeClient, type NodeClient } from '../../src/chain/nodeClient.js'
import { NodeRpcError } from '../../src/chain/nodeErrors.js'
import {
  getBalance,
  getBlock,
  getCode,
  getLogs,
  getTransactionCount,
  getTransactionReceipt,
  sendRawTransaction,
} from '../../src/chain/nodeReads.js'
import { type Anvil, startAnvil } from '../support/chain/startAnvil.js'
import { silent } from '../support/logger.js'

const executor = privateKeyToAccount(
  '0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80',
)
const address = executor.address.toLowerCase() as `0x${string}`
const target = '0x00000000000000000000000000000000000000aa'
// Emits LOG1(topic 7, no data), then returns its balance.
const logging = '0x600760006000a1' as const
let anvil: Anvil
let node: NodeClient

beforeAll(async () => {
  anvil = await startAnvil()
  node = createNodeClient({ urls: [anvil.url], logger: silent })
})
afterAll(async () => {
  await node.close()
  await anvil.stop()
})

test('a signed transaction is sent, and its receipt and logs are read with types', async () => {
  await node.request('anvil_setCode', [target, logging])
  const signed = await executor.signTransaction({
    chainId: 31337,
    nonce: await getTransactionCount(node, address),
    to: target,
    value: 5n,
    gas: 100_000n,
    maxFeePerGas: 10_000_000_000n,
    maxPriorityFeePerGas: 1n,
  })
  const hash = await sendRawTransaction(node, signed)
  await node.request('evm_mine', [])
  const receipt = await getTransactionReceipt(node, hash)
  expect(receipt).toMatchObject({
    transactionHash: hash,
    status: 1,
    type: 2,
    from: address,
    to: target,
    contractAddress: null,
  })
  const block = await getBlock(node, receipt?.blockHash ?? 'latest')
  expect(block?.number).toBe(receipt?.blockNumber)
  const logs = await getLogs(node, { address: target, topics: [], blockHash: block?.hash ?? '0x' })
  expect(logs).toEqual(receipt?.logs)
  expect(logs[0]).toMatchObject({ address: target, data: '0x', logIndex: 0, transactionHash: hash })
  expect(await getBalance(node, target)).toBe(5n)
  expect(await getBalance(node, target, 0n)).toBe(0n)
  expect(await getCode(node, target)).toBe(logging)
})

test('what does not exist is undefined', async () => {
  const unknown = `0x${'12'.repeat(32)}` as const
  expect(await getTransactionReceipt(node, unknown)).toBeUndefined()
  expect(await getBlock(node, 10_000n)).toBeUndefined()
  expect(await getBlock(node, unknown)).toBeUndefined()
})

describe('ethCall', () => {
  const run = (code: `0x${string}`) =>
    ethCall(node, { to: target, data: '0x' }, 'latest', { [target]: { code } })

  test('returns what the overridden code returns', async () => {
    expect(await run('0x60426000526001601ff3')).toEqual({ ok: true, data: '0x42' })
  })

  test('a revert is an outcome with its data', async () => {
    expect(await run('0x60426000526001601ffd')).toMatchObject({ ok: false, revertData: '0x42' })
    expect(await run('0x60006000fd')).toMatchObject({ ok: false, revertData: '0x' })
  })

  test.each([
    ['an invalid opcode', '0xfe'],
    ['stack underflow', '0x01'],
    ['running out of gas', '0x5b600056'],
    ['a bad jump', '0x600456'],
  ] as const)('%s is an outcome without data', async (_, code) => {
    expect(await run(code)).toMatchObject({ ok: false, revertData: '0x' })
  })

  test('a call that the node refuses to run is thrown', async () => {
    await expect(
      ethCall(node, { to: target, data: '0x' }, `0x${'34'.repeat(32)}`),
    ).rejects.toBeInstanceOf(NodeRpcError)
  })
})
