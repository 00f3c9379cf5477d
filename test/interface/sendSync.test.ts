import { once } from 'node:events'
import { request } from 'node:http'
import { http } from 'viem'
import { createBundlerClient } from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { expect, test } from 'vitest'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import { toInterfaceOperation } from '../../src/cli/devnet/simpleAccount.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { result, rpc } from '../support/http/jsonRpc.js'
import { devAccount } from '../support/service/devAccount.js'
import { usePromisedServing } from '../support/service/usePromisedServing.js'
import { until } from '../support/until.js'

/* eth_sendUserOperationSync on a chain whose sequencer promises blocks before it makes them. */

const FINALITY = 3

const serving = usePromisedServing(845_301, { finalityDepth: FINALITY })

function paramsOf(op: Operation, ...terms: unknown[]) {
  return [toInterfaceOperation(op), serving.info().entryPoints['0.6'], ...terms]
}

const send = (op: Operation, ...terms: unknown[]) =>
  result(serving.info().standardUrl, 'eth_sendUserOperationSync', paramsOf(op, ...terms))

/** The answer of a request, and milliseconds until it came. */
async function timed<Answer>(answer: Promise<Answer>) {
  const begin = performance.now()
  return { answer: await answer, took: performance.now() - begin }
}

test('one request gives the receipt of its dialect, and a second one the same', async () => {
  const info = serving.info()
  const account = await devAccount(info, 'sync')
  const op = await account.selfPaid()
  const receipt = await send(op)
  expect(receipt).toMatchObject({ userOpHash: account.hashOf(op), success: true })
  const known = [account.hashOf(op)]
  expect(receipt).toEqual(await result(info.standardUrl, 'eth_getUserOperationReceipt', known))
  expect(await send(op, '0x1388', 'included')).toEqual(receipt)
  const classic = await result(info.bundlerUrl, 'eth_sendUserOperationSync', paramsOf(op))
  expect(classic).toMatchObject({ userOpHash: account.hashOf(op), success: 'true' })
})

test('a viem client sends it as it is, and the terms of Gelato name the time', async () => {
  const account = await devAccount(serving.info(), 'viem')
  const op = await account.selfPaid()
  const transport = http(serving.info().standardUrl)
  const client = createBundlerClient({ chain: foundry, transport })
  const asked = { method: 'eth_sendUserOperationSync', params: paramsOf(op, { timeout: 9_000 }) }
  const receipt = await client.request(asked as never, { retryCount: 0 })
  expect(receipt).toMatchObject({ userOpHash: account.hashOf(op), success: true })
})

test('until "accepted" it answers with the hash, before the block', async () => {
  const account = await devAccount(serving.info(), 'accepted')
  const op = await account.selfPaid()
  await serving.node.hold()
  expect(await send(op, null, 'accepted')).toBe(account.hashOf(op))
  serving.node.release()
  expect(await send(op)).toMatchObject({ success: true })
})

test('until "preconfirmed" a promise suffices, until "included" it does not', async () => {
  const account = await devAccount(serving.info(), 'promised')
  const op = await account.selfPaid()
  await serving.node.hold()
  const early = await send(op, { until: 'preconfirmed' })
  expect(early).toMatchObject({ userOpHash: account.hashOf(op), preconfirmed: true })
  const included = timed(send(op))
  const { body } = await rpc(
    serving.info().standardUrl,
    'eth_sendUserOperationSync',
    paramsOf(op, 300),
  )
  expect(body.error).toMatchObject({ code: 4, data: account.hashOf(op) })
  expect(body.error?.message).toContain('SUBMITTED')
  serving.node.release()
  const { answer } = await included
  expect(answer).toMatchObject({ success: true })
  expect(answer.preconfirmed).toBeUndefined()
})

test('until "final" it waits for the blocks on top', async () => {
  const info = serving.info()
  const tester = anvilClient(info.rpcUrl)
  const account = await devAccount(info, 'final')
  const op = await account.selfPaid()
  const receipt = await send(op)
  let isAnswered = false
  const final = send(op, { until: 'final' }).finally(() => {
    isAnswered = true
  })
  await tester.mine({ blocks: FINALITY - 1 })
  const confirmations = async () =>
    (await result(info.bundlerUrl, 'eth_getUserOperationReceipt', [account.hashOf(op)])).receipt
      .confirmations
  await until(async () => (await confirmations()) === FINALITY)
  expect(isAnswered).toBe(false)
  await tester.mine({ blocks: 1 })
  expect(await final).toEqual(receipt)
})

test('an operation that is dropped while somebody waits is answered with the reason', async () => {
  const info = serving.info()
  const tester = anvilClient(info.rpcUrl)
  const account = await devAccount(info, 'dropped')
  await send(await account.selfPaid())
  const op = await account.selfPaid()
  // The operation before it is in a bundle that no block takes, so that it stays in the pool.
  await tester.setAutomine(false)
  await account.send(op)
  const late = await account.sign({ ...op, nonce: op.nonce + 1n })
  const waiting = rpc(info.bundlerUrl, 'eth_sendUserOperationSync', paramsOf(late, 30_000))
  const hash = account.hashOf(late)
  await until(() => result(info.bundlerUrl, 'eth_getUserOperationByHash', [hash]))
  await serving.commands.answer('operation', 'cancel', hash, '--chain', '845301')
  const { status, body } = await waiting
  expect(status).toBe(400)
  expect(body.error).toMatchObject({
    code: -32000,
    data: { userOpHash: hash, state: 'DROPPED_FROM_BUNDLER_MEMPOOL', rule: 'CANCELLED' },
  })
  await tester.setAutomine(true)
  await tester.mine({ blocks: 1 })
})

test('a refused operation is refused as eth_sendUserOperation refuses it', async () => {
  const info = serving.info()
  const account = await devAccount(info, 'refused')
  const op = { ...(await account.selfPaid()), signature: `0x${'5a'.repeat(65)}` } as const
  const [sync, plain] = await Promise.all(
    ['eth_sendUserOperationSync', 'eth_sendUserOperation'].map((method) =>
      rpc(info.standardUrl, method, paramsOf(op)),
    ),
  )
  expect(sync?.body.error).toEqual(plain?.body.error)
  expect(sync?.body.error).toMatchObject({ code: -32500 })
})

test.each([
  [['soon'], 'params[2]'],
  [[{ timeout: -1 }], 'params[2].timeout'],
  [[{ until: 'soon' }], 'params[2].until'],
  [[1_000, 'soon'], 'params[3]'],
])('the terms %j are refused', async (terms, field) => {
  const account = await devAccount(serving.info(), 'terms')
  const op = await account.selfPaid()
  const { body } = await rpc(
    serving.info().standardUrl,
    'eth_sendUserOperationSync',
    paramsOf(op, ...terms),
  )
  expect(body.error).toMatchObject({ code: -32602, message: expect.stringContaining(field) })
})

test('a client that disconnects loses nothing, nor does one that is cut off by a restart', async () => {
  const info = serving.info()
  const account = await devAccount(info, 'gone')
  const op = await account.selfPaid()
  await serving.node.hold()
  const call = { jsonrpc: '2.0', id: 1, method: 'eth_sendUserOperationSync', params: paramsOf(op) }
  const headers = { 'content-type': 'application/json' }
  const asking = request(info.standardUrl, { method: 'POST', headers })
  asking.end(JSON.stringify(call))
  const ended = once(asking, 'error')
  const hash = account.hashOf(op)
  await until(() => result(info.bundlerUrl, 'eth_getUserOperationByHash', [hash]))
  asking.destroy(new Error('gone'))
  await ended
  const cut = expect(
    rpc(info.standardUrl, 'eth_sendUserOperationSync', call.params),
  ).rejects.toThrow()
  await serving.start()
  await cut
  serving.node.release()
  expect(await send(op)).toMatchObject({ userOpHash: hash, success: true })
})
