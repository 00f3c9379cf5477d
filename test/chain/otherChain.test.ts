import { numberToHex } from 'viem'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { createChainIdentity } from '../../src/chain/chainIdentity.js'
import { createNodeClient, type NodeClient } from '../../src/chain/nodeClient.js'
import { NodeUnavailableError } from '../../src/chain/nodeErrors.js'
import { canonicalBlocks } from '../../src/chain/nodeReads.js'
import { type Anvil, startAnvil } from '../support/chain/startAnvil.js'
import { startTroubledNode, type TroubledNode } from '../support/chain/troubledNode.js'
import { silent } from '../support/logger.js'

const cleanups: (() => Promise<void>)[] = []
let ours: Anvil
beforeEach(async () => {
  ours = await started()
  await mine(3)
})
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
})

async function started(...args: readonly string[]): Promise<Anvil> {
  const anvil = await startAnvil([...args])
  cleanups.push(anvil.stop)
  return anvil
}
async function nodeOf(to = ours): Promise<TroubledNode> {
  const node = await startTroubledNode(to.url)
  cleanups.push(node.stop)
  return node
}
function clientOf(nodes: readonly TroubledNode[], restarts = false): NodeClient {
  const urls = nodes.map(({ url }) => url)
  const chain = createChainIdentity({ chainId: 31_337, restarts })
  const client = createNodeClient({ urls, chain, logger: silent })
  cleanups.push(client.close)
  return client
}
/** A chain whose blocks are not ours, even where block 0 is the same. */
async function grown(args: readonly string[], blocks: number): Promise<Anvil> {
  const other = await started(...args)
  await other.request('evm_increaseTime', [1_000])
  await mine(blocks, other)
  return other
}
function mine(blocks: number, on = ours) {
  return on.request('anvil_mine', [numberToHex(blocks)])
}

/** Chains that are not ours, though their nodes answer in our node's place. */
const others = [
  ['another chain id', 'chain 10', ['--chain-id', '10']],
  ['another block 0', 'another block 0', ['--timestamp', '1700000000']],
] as const
const heights = [
  ['a lower', 1],
  ['the same', 3],
  ['the next', 4],
  ['a higher', 300],
] as const
const cases = others.flatMap(([name, words, args]) =>
  heights.map(([height, blocks]) => [height, name, words, args, blocks] as const),
)

describe('a node that answers with', () => {
  test.each(cases)(
    '%s head of a chain with %s is away until it serves ours again',
    async (...each) => {
      const [, , words, args, blocks] = each
      const other = await grown(args, blocks)
      const node = await nodeOf()
      const client = clientOf([node])
      const { number, hash } = await client.head()
      await node.begin({ kind: 'elsewhere', url: other.url })
      // What is asked before the next look at the head is proven by block 0, where numbers name blocks.
      await expect(canonicalBlocks(client, [1n])).rejects.toBeInstanceOf(NodeUnavailableError)
      await expect(client.head()).rejects.toThrow(words)
      expect(client.nodes()[0]?.otherChain).toContain(words)
      const asked = node.met()
      for (const method of ['eth_sendRawTransaction', 'eth_call', 'eth_gasPrice'])
        await expect(client.request(method, [])).rejects.toMatchObject({ code: -32005 })
      expect(await client.survey('eth_gasPrice', []).catch(() => [])).toEqual([])
      expect(node.met()).toBe(asked)
      await node.end()
      expect(await client.head()).toMatchObject({ number, hash })
      expect(client.nodes()[0]?.otherChain).toBeUndefined()
      expect((await canonicalBlocks(client, [3n])).get(3n)?.hash).toBe(hash)
    },
  )

  test.each(cases)(
    '%s head of a chain with %s decides nothing next to one of ours',
    async (...each) => {
      const [, , words, args, blocks] = each
      const other = await grown(args, blocks)
      const [first, second] = [await nodeOf(), await nodeOf()]
      const client = clientOf([first, second])
      await client.head()
      await first.begin({ kind: 'elsewhere', url: other.url })
      await mine(1)
      expect((await client.head()).number).toBe(4n)
      expect(client.nodes().map(({ otherChain }) => otherChain)).toEqual([
        expect.stringContaining(words),
        undefined,
      ])
      const asked = first.met()
      expect(await client.request('eth_chainId', [])).toBe(numberToHex(31_337))
      expect(await client.survey('eth_chainId', [])).toEqual([numberToHex(31_337)])
      expect(first.met()).toBe(asked)
      await first.end()
      await mine(1)
      expect((await client.head()).number).toBe(5n)
      expect(client.nodes()[0]?.otherChain).toBeUndefined()
    },
  )
})

test('one that follows our blocks is asked for nothing but its head', async () => {
  const node = await nodeOf()
  const client = clientOf([node])
  await client.head()
  await client.head()
  await node.begin({ kind: 'slow', milliseconds: 0 })
  await client.head()
  await mine(1)
  await client.head()
  expect([node.met(), node.met('eth_getBlockByNumber')]).toEqual([2, 2])
})

test('a development chain may begin anew, but not as one with another id', async () => {
  const node = await nodeOf()
  const client = clientOf([node], true)
  await client.head()
  const anew = await started('--timestamp', '1700000000')
  await node.begin({ kind: 'elsewhere', url: anew.url })
  expect((await client.head()).number).toBe(0n)
  expect((await canonicalBlocks(client, [0n])).get(0n)?.hash).toBe(client.chain?.genesis)
  const other = await started('--chain-id', '10')
  await node.begin({ kind: 'elsewhere', url: other.url })
  await expect(client.head()).rejects.toThrow('chain 10')
})

test('block 0 of our books is the one that counts, also for the first head', async () => {
  const node = await nodeOf()
  const chain = createChainIdentity({ chainId: 31_337 }, `0x${'12'.repeat(32)}`)
  const client = createNodeClient({ urls: [node.url], chain, logger: silent })
  cleanups.push(client.close)
  await expect(client.head()).rejects.toThrow('another block 0')
})
