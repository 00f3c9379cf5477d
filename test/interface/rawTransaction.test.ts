import { createPublicClient, createWalletClient, http, parseEther } from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import { startTroubledNode, type TroubledNode } from '../support/chain/troubledNode.js'
import { rpc } from '../support/http/jsonRpc.js'
import { TARGET } from '../support/service/devAccount.js'
import { prepareServing, type Serving } from '../support/service/serving.js'

/* A whole dApp by one URL, where the operator allows transactions that are no operations. */

let serving: Serving
let other: TroubledNode
beforeAll(async () => {
  serving = await prepareServing(1_061, async ({ rpcUrl }) => {
    other = await startTroubledNode(rpcUrl)
    return { rpcUrls: [rpcUrl, other.url], estimateGas: true, sendRawTransaction: true }
  })
  await serving.start()
})
afterAll(async () => {
  await serving?.stop()
  await other?.stop()
})

describe("viem's wallet", () => {
  const account = privateKeyToAccount(generatePrivateKey())
  const wallet = () => {
    const chain = { ...foundry, id: 1_061 }
    return createWalletClient({ account, chain, transport: http(serving.info().standardUrl) })
  }

  test('sends a transaction unmodified, which all nodes get', async () => {
    const { rpcUrl } = serving.chain
    await anvilClient(rpcUrl).setBalance({ address: account.address, value: parseEther('1') })
    await other.begin({ kind: 'slow', milliseconds: 0 })
    const hash = await wallet().sendTransaction({ to: TARGET, value: 1n })
    const reader = createPublicClient({ transport: http(serving.info().standardUrl) })
    expect(await reader.waitForTransactionReceipt({ hash })).toMatchObject({ status: 'success' })
    expect(other.met('eth_sendRawTransaction')).toBe(1)
    await other.end()
  })

  test('shows why one is refused, in the words that it knows', async () => {
    const fees = { gas: 21_000n, maxFeePerGas: 2_000_000_000n, maxPriorityFeePerGas: 1n }
    const used = wallet().sendTransaction({ to: TARGET, nonce: 0, ...fees })
    await expect(used).rejects.toThrow(/nonce too low|lower than the current nonce/i)
    const tooMuch = wallet().sendTransaction({ to: TARGET, value: parseEther('9'), ...fees })
    await expect(tooMuch).rejects.toThrow(/insufficient funds|exceeds the balance/i)
  })

  test('is refused what is no transaction', async () => {
    const { body } = await rpc(serving.info().standardUrl, 'eth_sendRawTransaction', ['0x00'])
    expect(body.error).toMatchObject({ code: -32602 })
  })
})
