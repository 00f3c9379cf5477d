import type { ServerResponse } from 'node:http'
import { type Hex, numberToHex, parseEther } from 'viem'
import { describe, expect, test } from 'vitest'
import { SignerUnavailableError } from '../../src/base/errors/processErrors.js'
import type { BundlingContext } from '../../src/bundler/bundlingContext.js'
import { followChain } from '../../src/bundler/send/followChain.js'
import { sendBundles } from '../../src/bundler/send/sendBundles.js'
import { createNodeClient } from '../../src/chain/nodeClient.js'
import { NodeUnavailableError } from '../../src/chain/nodeErrors.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { startHttpNode } from '../support/chain/httpNode.js'
import { REFUSED } from '../support/chain/settableAccount.js'
import { silent } from '../support/logger.js'
import { executorKeys } from '../support/world/openWorld.js'
import { useFreshWorld } from '../support/world.js'

describe('trouble with one operation, executor or node', () => {
  const chain = useFreshWorld({ definition: { executorKeys } })

  const admitFrom = async (count: number): Promise<Hex[]> => {
    const hashes: Hex[] = []
    for (let i = 0; i < count; i++)
      hashes.push(await chain().admit(chain().operation(await chain().createAccount())))
    return hashes
  }

  const states = async (hashes: readonly Hex[]) =>
    Promise.all(hashes.map(async (hash) => (await chain().stored(hash)).state))

  /** Mines what was sent in a block in which accounts refuse that `refusesOnChain`. */
  const mineRefused = async (): Promise<void> => {
    await chain().anvil.request('anvil_setCoinbase', [REFUSED])
    await chain().anvil.request('evm_mine', [])
    await chain().anvil.request('anvil_setCoinbase', [`0x${'0'.repeat(40)}`])
    await chain().anvil.request('evm_mine', [])
  }

  test('an operation that fails only on the chain is dropped the first time, the others go on', async () => {
    const sender = await chain().createAccount()
    const innocent = await admitFrom(4)
    await chain().configure(sender, { refusesOnChain: true })
    const poison = await chain().admit(chain().operation(sender))
    await chain().setAutomine(false)
    while ((await chain().stored(poison)).state !== 'dropped') {
      await chain().round()
      await mineRefused()
    }
    await chain().setAutomine(true)
    await chain().settle()
    expect(await states(innocent)).toEqual(innocent.map(() => 'included'))
    expect(await chain().stored(poison)).toMatchObject({
      attempts: 1,
      reasonCode: 'AA23',
      reason: 'it made a bundle fail on the chain: AA23 reverted: not in the mood',
    })
    const status = await chain().status(poison)
    expect(status?.state).toBe('FAILED')
    const hash = status?.transactionHash as Hex
    const receipt = await chain().anvil.client.getTransactionReceipt({ hash })
    expect(receipt.status).toBe('reverted')
  })

  test('an executor whose key cannot sign does not keep the others from sending', async () => {
    const [first, second] = chain().executors
    const senders = [await chain().createAccount(), await chain().createAccount()]
    const admitNext = () => chain().admit(chain().operation(senders.pop()!))
    await chain().setAutomine(false)
    const hashes = [await admitNext()]
    await chain().round()
    hashes.push(await admitNext())
    const denied = () => Promise.reject(new SignerUnavailableError(first!.address, 'denied'))
    const context = {
      ...chain().context,
      signers: [{ ...first!, signTransaction: denied }, second!],
      // The bundle of the first is stuck at once: its fees are to be raised.
      definition: { ...chain().definition, resubmitAfter: 1 },
    }
    const followed = await followChain(context, await chain().heads.refresh())
    await sendBundles(context, followed!, { turn: 0, freshHead: true })
    const open = await chain().openBundles()
    expect(new Set(open.map(({ executor }) => executor))).toEqual(
      new Set([first!.address, second!.address]),
    )
    await chain().setAutomine(true)
    await chain().anvil.request('evm_mine', [])
    await chain().settle()
    expect(await states(hashes)).toEqual(['included', 'included'])
  })

  test('an executor without money does not keep the others from sending', async () => {
    const [poor] = chain().executors
    await chain().anvil.request('anvil_setBalance', [poor!.address, '0x1'])
    const hashes = await admitFrom(2)
    await chain().settle()
    expect(await states(hashes)).toEqual(['included', 'included'])
    expect((await chain().receipt(hashes[0]!)).receipt.from).toBe(chain().executors[1]!.address)
  })

  test('operations wait while no executor has money', async () => {
    for (const { address } of chain().executors)
      await chain().anvil.request('anvil_setBalance', [address, '0x1'])
    const hashes = await admitFrom(2)
    await chain().settle()
    expect(await states(hashes)).toEqual(['pooled', 'pooled'])
    const [first] = chain().executors
    await chain().anvil.request('anvil_setBalance', [first!.address, numberToHex(parseEther('1'))])
    await chain().settle()
    expect(await states(hashes)).toEqual(['included', 'included'])
  })

  /** The chain's node, with `answer` in the way of each eth_call of handleOps. */
  const through = async (
    answer: (ops: readonly Operation[], id: unknown, response: ServerResponse) => boolean,
    limits: { readonly deadline?: number } = {},
  ) => {
    const proxy = await startHttpNode(async (body, response) => {
      const request = body as { id: unknown; method: string; params: [{ data?: Hex }] }
      const data = request.method === 'eth_call' ? request.params[0].data : undefined
      const ops = data && chain().entryPoint.decodeHandleOps(data)
      if (ops && answer(ops, request.id, response)) return
      const headers = { 'content-type': 'application/json' }
      const forwarded = { method: 'POST', headers, body: JSON.stringify(body) }
      response.end(await (await fetch(chain().anvil.url, forwarded)).text())
    })
    const node = createNodeClient({ urls: [proxy.url], logger: silent, ...limits })
    const context: BundlingContext = { ...chain().context, node }
    return { context, stop: () => Promise.all([node.close(), proxy.stop()]) }
  }

  const send = async (context: BundlingContext) =>
    sendBundles(
      { ...context, signers: chain().executors.slice(0, 1) },
      (await followChain(chain().context, await chain().heads.refresh()))!,
      { turn: 0, freshHead: false },
    )

  test('a bundle that fails without blame is halved until the culprit is alone', async () => {
    const hashes = await admitFrom(8)
    const culprit = (await chain().stored(hashes[5]!)).operation.sender
    let calls = 0
    const { context, stop } = await through((ops, id, response) => {
      calls++
      if (!ops.some(({ sender }) => sender === culprit)) return false
      const error = { code: 3, message: 'execution reverted', data: '0x' }
      response.end(JSON.stringify({ jsonrpc: '2.0', id, error }))
      return true
    })
    try {
      for (let bundles = 0; (await chain().stored(hashes[5]!)).state !== 'dropped'; bundles++) {
        expect(bundles).toBeLessThan(4)
        await send(context)
        for (const { attempts } of await chain().openBundles())
          await chain().anvil.client.waitForTransactionReceipt({ hash: attempts[0].hash })
        await followChain(chain().context, await chain().heads.refresh())
      }
    } finally {
      await stop()
    }
    expect(calls).toBeGreaterThan(1)
    await chain().settle()
    const all = await states(hashes)
    expect(all.filter((state) => state === 'included')).toHaveLength(7)
    expect(all[5]).toBe('dropped')
  })

  test.each([
    ['does not answer', () => true],
    [
      'answers an error of its own',
      (_ops: readonly Operation[], id: unknown, response: ServerResponse) => {
        const error = { code: -32000, message: 'header not found' }
        response.end(JSON.stringify({ jsonrpc: '2.0', id, error }))
        return true
      },
    ],
    [
      'answers garbage',
      (_ops: readonly Operation[], _id: unknown, response: ServerResponse) => {
        response.end('<html>')
        return true
      },
    ],
  ])('a node that %s removes no operation', async (_name, answer) => {
    const hashes = await admitFrom(2)
    // One of them never answers, and others may be late too: either way nothing is removed.
    const { context, stop } = await through(answer, { deadline: 200 })
    try {
      await send(context).catch((error) => expect(error).toBeInstanceOf(NodeUnavailableError))
    } finally {
      await stop()
    }
    expect(await states(hashes)).toEqual(['pooled', 'pooled'])
    await chain().settle()
    expect(await states(hashes)).toEqual(['included', 'included'])
  })
})
