import { parseGwei } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { HttpNode } from '../support/chain/httpNode.js'
import { startLegacyNode } from '../support/chain/legacyNode.js'
import { devAccount, receiptOf } from '../support/service/devAccount.js'
import { prepareServing, type Serving } from '../support/service/serving.js'

/* `purser serve` at a node that takes nothing but legacy transactions. */

const price = parseGwei('4')
let serving: Serving
let node: HttpNode

beforeAll(async () => {
  serving = await prepareServing(845_314, async ({ rpcUrl }) => {
    node = await startLegacyNode(rpcUrl, { suggested: price, least: price })
    return { rpcUrls: [node.url], transactionType: 'legacy' }
  })
  await serving.start()
})
afterAll(async () => {
  await serving?.stop()
  await node?.stop()
})

test('its executors sign legacy transactions, and both dialects tell their price', async () => {
  const account = await devAccount(serving.info(), 'legacy')
  const hash = await account.send(await account.selfPaid())
  const { bundlerUrl, standardUrl } = serving.info()
  const classic = await receiptOf({ bundlerUrl }, hash)
  const standard = await receiptOf({ bundlerUrl }, hash, standardUrl)
  expect(standard).toMatchObject({ success: true, receipt: { type: '0x0' } })
  expect(BigInt(standard.receipt.effectiveGasPrice)).toBe(price)
  const { _hex } = classic.receipt.effectiveGasPrice
  expect(BigInt(_hex)).toBe(price)
})
