import { http } from 'viem'
import { createBundlerClient, UserOperationReceiptNotFoundError } from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { expect, test } from 'vitest'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import { result, rpc } from '../support/http/jsonRpc.js'
import { devAccount } from '../support/service/devAccount.js'
import { usePromisedServing } from '../support/service/usePromisedServing.js'
import { until } from '../support/until.js'

/* A chain whose sequencer promises blocks before it makes them (Flashblocks), and may break its word. */

const serving = usePromisedServing(845_300)

test('a preconfirmed operation is shown as such to clients that ask for it, and to nobody as included', async () => {
  const info = serving.info()
  const tester = anvilClient(info.rpcUrl)
  const account = await devAccount(info, 'promised')
  const op = await account.selfPaid()
  const before = await tester.snapshot()
  await serving.node.hold()
  const hash = await account.send(op)
  const ask = (url: string, method: string, ...params: unknown[]) =>
    result(url, method, [hash, ...params])
  const status = () => ask(info.standardUrl, 'biconomy_getUserOperationStatus')
  const receipt = (tag: string, url = info.standardUrl) =>
    ask(url, 'eth_getUserOperationReceipt', tag)

  const promised = await until(async () => {
    const answer = await status()
    return answer.preconfirmed === true && answer
  })
  expect(promised).toEqual({
    state: 'SUBMITTED',
    message: 'Transaction is preconfirmed',
    transactionHash: expect.any(String),
    preconfirmed: true,
  })
  const early = await receipt('pending')
  const { transactionHash } = promised
  expect(early).toMatchObject({ success: true, preconfirmed: true, receipt: { transactionHash } })
  expect(await receipt('pending', info.bundlerUrl)).toMatchObject({
    success: 'true',
    preconfirmed: true,
    receipt: { confirmations: 0, transactionHash },
  })

  // Everybody who does not ask for promises: the standard, its SDKs, and other providers' methods.
  for (const url of [info.standardUrl, info.bundlerUrl]) {
    expect(await ask(url, 'eth_getUserOperationReceipt')).toBeNull()
    expect(await receipt('latest', url)).toBeNull()
  }
  const client = createBundlerClient({ chain: foundry, transport: http(info.standardUrl) })
  const asking = client.getUserOperationReceipt({ hash })
  await expect(asking).rejects.toThrow(UserOperationReceiptNotFoundError)
  const { blockNumber } = await ask(info.standardUrl, 'eth_getUserOperationByHash')
  expect(blockNumber).toBeNull()
  expect(await ask(info.standardUrl, 'pimlico_getUserOperationStatus')).toEqual({
    status: 'submitted',
    transactionHash,
  })

  // The sequencer makes another block than the one that it promised, and promises no more for now: the
  // transaction, which the service sends again, waits.
  await tester.setAutomine(false)
  await tester.revert({ id: before })
  await until(async () => (await status()).preconfirmed === undefined)
  expect(await status()).toMatchObject({ state: 'SUBMITTED' })
  expect(await receipt('pending')).toBeNull()
  serving.node.release()
  await tester.setAutomine(true)
  await tester.mine({ blocks: 1 })
  const done = await until(async () => {
    const answer = await status()
    return answer.state === 'CONFIRMED' && answer
  })
  expect(done.preconfirmed).toBeUndefined()
  const final = await receipt('pending')
  expect(final).toMatchObject({ success: true, receipt: { transactionHash } })
  expect(final.preconfirmed).toBeUndefined()
  expect(final.receipt.blockHash).not.toBe(early.receipt.blockHash)
  expect(await receipt('latest')).toEqual(final)
})

test('a promise that is kept is a receipt only once the block is there', async () => {
  const info = serving.info()
  const account = await devAccount(info, 'kept')
  const op = await account.selfPaid()
  await serving.node.hold()
  const hash = await account.send(op)
  const receipt = (...tag: string[]) =>
    result(info.standardUrl, 'eth_getUserOperationReceipt', [hash, ...tag])
  const early = await until(() => receipt('pending'))
  expect(await receipt()).toBeNull()
  serving.node.release()
  const final = await until(() => receipt())
  const { preconfirmed: _, ...rest } = early
  expect(final).toEqual(rest)
})

test('another tag is refused', async () => {
  const { standardUrl } = serving.info()
  const asked = [`0x${'ab'.repeat(32)}`, 'safe']
  const { body } = await rpc(standardUrl, 'eth_getUserOperationReceipt', asked)
  expect(body.error).toMatchObject({ code: -32602, message: expect.stringContaining('params[1]') })
})
