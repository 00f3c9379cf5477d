import type { Hex } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
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
} from '../../src/chain/nodeReads.js'
import { callTransaction } from '../../src/chain/transactionCall.js'
import { type Anvil, startAnvil } from '../support/chain/startAnvil.js'
import { silent } from '../support/logger.js'
import { startNodeFront } from '../support/nodes/nodeFront.js'

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
  const hash = await node.request<Hex>('eth_sendRawTransaction', [signed])
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

describe('a call with an authorization (EIP-7702)', () => {
  const signer = privateKeyToAccount(generatePrivateKey())
  /** Returns the size of the signer's code, 23 bytes where it delegates. */
  const sizeOfSigner = `0x73${signer.address.slice(2)}3b60005260206000f3` as const
  const codeSize = async (on: NodeClient, nonce: number) => {
    await node.request('anvil_setCode', [target, sizeOfSigner])
    const authorization = await signer.signAuthorization({ chainId: 31337, nonce, address: target })
    const call = { from: address, to: target, data: '0x', authorizations: [authorization] } as const
    const outcome = await callTransaction(on, call, 'latest')
    return outcome.ok ? BigInt(outcome.data) : outcome.message
  }

  test('is charged for it, as its transaction will be', async () => {
    const empty = '0x00000000000000000000000000000000000000bb'
    const authorization = await signer.signAuthorization({ chainId: 0, nonce: 0, address: target })
    const call = { from: address, to: empty, data: '0x', authorizations: [authorization] } as const
    const withGas = (gas: bigint) => callTransaction(node, { ...call, gas }, 'latest')
    expect((await withGas(46_000n)).ok).toBe(true)
    expect((await withGas(45_999n)).ok).toBe(false)
  })

  test('sees its effect, and none where it is stale', async () => {
    expect(await codeSize(node, 0)).toBe(23n)
    expect(await codeSize(node, 1)).toBe(0n)
  })

  test('sees its effect at a node that passes over lists in calls', async () => {
    const front = await startNodeFront(anvil.url, {
      eth_call: ({ authorizationList: _, ...call }: Record<string, unknown>, ...rest: unknown[]) =>
        node.request('eth_call', [call, ...rest]),
    })
    const older = createNodeClient({ urls: [front.url], logger: silent })
    try {
      expect(await codeSize(older, 0)).toBe(23n)
    } finally {
      await older.close()
      await front.stop()
    }
  })
})
