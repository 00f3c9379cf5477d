import { numberToHex } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, beforeEach, describe, expect, onTestFinished, test, vi } from 'vitest'
import { broadcast } from '../../src/chain/broadcast.js'
import { startHeadFollower } from '../../src/chain/headFollower.js'
import { createNodeClient, type NodeClient } from '../../src/chain/nodeClient.js'
import { NodeRpcError, NodeUnavailableError } from '../../src/chain/nodeErrors.js'
import { requireChain } from '../../src/chain/requireChain.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { startChangedNode } from '../support/chain/changedNode.js'
import { type Anvil, startAnvil } from '../support/chain/startAnvil.js'
import { startTroubledNode, type TroubledNode } from '../support/chain/troubledNode.js'
import { silent } from '../support/logger.js'
import { recordMetrics } from '../support/recordMetrics.js'
import { until } from '../support/until.js'

const cleanups: (() => Promise<void>)[] = []
let anvil: Anvil
beforeEach(async () => {
  anvil = await startAnvil()
  cleanups.push(anvil.stop)
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

/** Another way to the chain of `to`, which can get into trouble. */
async function nodeOf(to: Anvil = anvil): Promise<TroubledNode> {
  const node = await startTroubledNode(to.url)
  cleanups.push(node.stop)
  return node
}
function clientOf(...nodes: readonly TroubledNode[]): NodeClient {
  const client = createNodeClient({ urls: nodes.map(({ url }) => url), logger: silent })
  cleanups.push(client.close)
  return client
}
async function three() {
  return [await nodeOf(), await nodeOf(), await nodeOf()] as const
}
function mine(blocks: number, on = anvil) {
  return on.request('anvil_mine', [numberToHex(blocks)])
}
/** The number of the block that an answer is from. */
async function latest(client: NodeClient) {
  return Number(
    (await client.request<{ number: string }>('eth_getBlockByNumber', ['latest', false])).number,
  )
}
/** A node with this trouble only counts what it is asked. */
const counting = { kind: 'slow', milliseconds: 0 } as const

describe('of three nodes', () => {
  test.each([
    ['is stopped', { kind: 'stopped' }],
    ['answers garbage', { kind: 'garbage' }],
    ['stands still at an old block', { kind: 'old', block: 1n }],
    ['is slow', { kind: 'slow', milliseconds: 2_500 }],
    ['answers errors to one method', { kind: 'error', methods: ['eth_getBlockByNumber'] }],
  ] as const)(
    'one that %s costs nothing, and is used again when it is well',
    async (_, trouble) => {
      const [first, second, third] = await three()
      const client = clientOf(first, second, third)
      await mine(3)
      expect((await client.head()).number).toBe(3n)
      await first.begin(trouble)
      await mine(2)
      expect((await client.head()).number).toBe(5n)
      expect(await latest(client)).toBe(5)
      await first.end()
      await first.begin(counting)
      await until(async () => {
        const before = first.met()
        await client.head()
        const seen = first.met()
        await latest(client)
        return seen > before && first.met() > seen
      })
    },
  )

  test('one on a branch of its own decides nothing and is asked nothing, however high', async () => {
    const other = await startAnvil()
    cleanups.push(other.stop)
    await mine(4)
    await other.request('evm_increaseTime', [1_000])
    await mine(9, other)
    const client = clientOf(await nodeOf(other), await nodeOf(), await nodeOf())
    expect((await client.head()).number).toBe(4n)
    expect(await latest(client)).toBe(4)
  })

  test('two that are gone leave no head, until one is back', async () => {
    const [first, second, third] = await three()
    const client = clientOf(first, second, third)
    await client.head()
    await first.begin({ kind: 'stopped' })
    await second.begin({ kind: 'stopped' })
    await expect(client.head()).rejects.toBeInstanceOf(NodeUnavailableError)
    await second.end()
    await mine(1)
    expect((await client.head()).number).toBe(1n)
    expect(await latest(client)).toBe(1)
  })
})

describe('a transaction', () => {
  const key = privateKeyToAccount(devKey(1))
  const fees = { maxFeePerGas: 10_000_000_000n, maxPriorityFeePerGas: 1n }
  const signed = (nonce: number, gas = 21_000n) =>
    key.signTransaction({ chainId: 31_337, nonce, to: key.address, gas, ...fees })

  test('goes to all nodes: the first that takes it decides, however others fail', async () => {
    const [first, second, third] = await three()
    const client = clientOf(first, second, third)
    await anvil.request('evm_setAutomine', [false])
    await client.head()
    await first.begin({ kind: 'hangs' })
    await second.begin({ kind: 'error', methods: ['eth_sendRawTransaction'] })
    await third.begin(counting)
    const outcomes: (string | undefined)[] = []
    const metrics = recordMetrics(({ outcome }) => outcomes.push(outcome))
    expect(await broadcast(client, await signed(0), metrics)).toEqual({ kind: 'sent' })
    // The one that hangs is not waited for until it is given up.
    expect(outcomes).not.toContain('silent')
    const asked = [second, third].map((node) => node.met('eth_sendRawTransaction'))
    expect(asked).toEqual([1, 1])
    await until(async () => outcomes.length === 2)
    expect(outcomes.sort()).toEqual(['first', 'refused'])
  })

  test('that a node knows already is sent', async () => {
    const client = clientOf(...(await three()))
    await anvil.request('evm_setAutomine', [false])
    const raw = await signed(0)
    await broadcast(client, raw)
    expect(await broadcast(client, raw)).toEqual({ kind: 'sent' })
  })

  test('is refused for good only by all nodes; one that is silent is waited for a while', async () => {
    const [first, second] = await three()
    const client = clientOf(first, second)
    const tooLittle = await signed(0, 20_999n)
    expect((await broadcast(client, tooLittle)).kind).toBe('terminal')
    await second.begin({ kind: 'error', methods: ['eth_sendRawTransaction'] })
    expect((await broadcast(client, tooLittle)).kind).toBe('indeterminate')
    await second.begin({ kind: 'hangs' })
    const outcomes: (string | undefined)[] = []
    const metrics = recordMetrics(({ outcome }) => outcomes.push(outcome))
    expect((await broadcast(client, tooLittle, metrics)).kind).toBe('indeterminate')
    // But not until it is given up.
    expect(outcomes).toEqual(['refused'])
  })
})

describe('of two nodes', () => {
  test('the one left is not asked while it is behind what was served before', async () => {
    const [first, second] = await three()
    const client = clientOf(first, second)
    await mine(3)
    await second.begin({ kind: 'old', block: 2n })
    expect((await client.head()).number).toBe(3n)
    await first.begin({ kind: 'stopped' })
    expect((await client.head()).number).toBe(2n)
    await expect(latest(client)).rejects.toBeInstanceOf(NodeUnavailableError)
    await second.end()
    expect((await client.head()).number).toBe(3n)
    expect(await latest(client)).toBe(3)
  })

  test('a lower head counts where the chain has left the branch of what was served before', async () => {
    const [first, second] = await three()
    const client = clientOf(first, second)
    await mine(3)
    const snapshot = await anvil.request('evm_snapshot', [])
    const definition = { chainId: 31_337, pollInterval: 1_000_000_000 }
    const follower = await startHeadFollower({ node: client, definition, logger: silent })
    cleanups.push(async () => follower.stop())
    await mine(4)
    expect((await follower.refresh()).number).toBe(7n)
    await anvil.request('evm_revert', [snapshot])
    // These are the blocks that we know: the nodes may be behind.
    expect((await follower.refresh()).number).toBe(7n)
    await anvil.request('evm_increaseTime', [1_000])
    await mine(2)
    await first.begin({ kind: 'stopped' })
    const lower = await until(() =>
      follower.refresh().then(
        ({ number }) => number < 7n && number,
        () => false,
      ),
    )
    expect([lower, await latest(client)]).toEqual([5n, 5])
    await first.end()
    await mine(1)
    expect((await follower.refresh()).number).toBe(6n)
  })

  test('a head that one of them made up stops neither for longer than a moment', async () => {
    let lies = false
    const liar = await startChangedNode(anvil.url, (method, [block], answer) => {
      if (!lies || method !== 'eth_getBlockByNumber' || block !== 'latest') return answer
      const madeUp = { number: numberToHex(10n ** 9n), hash: numberToHex(1n, { size: 32 }) }
      return { ...answer, result: { ...Object(answer.result), ...madeUp } }
    })
    cleanups.push(liar.stop)
    const client = createNodeClient({ urls: [liar.url, (await nodeOf()).url], logger: silent })
    cleanups.push(client.close)
    await mine(3)
    const definition = { chainId: 31_337, pollInterval: 1_000_000_000 }
    const follower = await startHeadFollower({ node: client, definition, logger: silent })
    cleanups.push(async () => follower.stop())
    lies = true
    expect((await follower.refresh()).number).toBe(3n)
    lies = false
    await mine(1)
    await until(async () => {
      await follower.refresh()
      return (await latest(client).catch(() => 0)) === 4
    })
    expect(follower.current().number).toBe(4n)
  })

  test("a node's own trouble with one method is taken to the other, which is then asked first", async () => {
    // The rest of the first one, of half a second or more, does not end meanwhile.
    const clock = vi.spyOn(performance, 'now').mockReturnValue(performance.now())
    onTestFinished(() => clock.mockRestore())
    const [first, second] = await three()
    const client = clientOf(first, second)
    await first.begin({ kind: 'error', methods: ['eth_gasPrice'] })
    expect(await client.request('eth_gasPrice', [])).toMatch(/^0x/)
    expect(first.met()).toBe(1)
    expect(await client.request('eth_gasPrice', [])).toMatch(/^0x/)
    expect(first.met()).toBe(1)
    await first.begin(counting)
    await client.request('eth_chainId', [])
    expect(first.met()).toBe(1)
  })

  test('what both refuse is refused, and a raw transaction is never sent to a second one', async () => {
    const [first, second] = await three()
    const methods = ['eth_gasPrice', 'eth_sendRawTransaction']
    const client = clientOf(first, second)
    await first.begin({ kind: 'error', methods })
    await second.begin({ kind: 'error', methods })
    await expect(client.request('eth_gasPrice', [])).rejects.toBeInstanceOf(NodeRpcError)
    expect([first.met(), second.met()]).toEqual([1, 1])
    await expect(client.request('eth_sendRawTransaction', ['0x00'])).rejects.toMatchObject({
      code: -32603,
    })
    expect([first.met(), second.met()]).toEqual([2, 1])
  })

  test('one that serves another chain is refused at the start', async () => {
    const other = await startAnvil(['--chain-id', '4242'])
    cleanups.push(other.stop)
    const chain = { chainId: 31337, entryPoints: [] }
    await requireChain(clientOf(await nodeOf(), await nodeOf()), chain)
    await expect(
      requireChain(clientOf(await nodeOf(), await nodeOf(other)), chain),
    ).rejects.toThrow('serves chain 4242')
  })
})
