import { type Hex, parseEther, parseGwei } from 'viem'
import { expect, test } from 'vitest'
import { operationReceipt } from '../../src/bundler/operationViews.js'
import { createRandom } from '../evm/random.js'
import type { HttpNode } from '../support/chain/httpNode.js'
import { admitEstimated } from '../support/chain/payingOperations.js'
import { startStrictNode } from '../support/chain/strictNode.js'
import { useWorld } from '../support/world.js'

/* A provider that gives logs of ten blocks at once, and no more than two logs, where far more are configured. */

const MOST_BLOCKS = 10
const MOST_LOGS = 2
const LOG_RANGE = 1_000

type Filter = { readonly fromBlock?: Hex; readonly toBlock?: Hex; readonly blockHash?: Hex }
type Asked = { readonly method: string; readonly params: readonly [Filter] }

const bundling = useWorld({
  definition: { logRange: LOG_RANGE, finalityDepth: 400, maxBundleWait: 0 },
  front: startLimited,
})
let node: HttpNode
const random = createRandom(1_313)

/** A node that serves the logs of few blocks, and few logs. */
async function startLimited(url: string): Promise<HttpNode> {
  const refusedLogs = async ({ fromBlock, toBlock }: Filter): Promise<string | undefined> => {
    if (fromBlock === undefined || toBlock === undefined) return undefined
    const blocks = Number(toBlock) - Number(fromBlock) + 1
    if (blocks > MOST_BLOCKS) return `up to a ${MOST_BLOCKS} block range is served`
    const asked = {
      jsonrpc: '2.0',
      id: 1,
      method: 'eth_getLogs',
      params: [{ fromBlock, toBlock }],
    }
    const headers = { 'content-type': 'application/json' }
    const got = await fetch(url, { method: 'POST', headers, body: JSON.stringify(asked) })
    const { result } = (await got.json()) as { result: { topics: Hex[] }[] }
    const events = result.filter(({ topics: [topic] }) => topic?.startsWith('0x49628fd1'))
    return events.length > MOST_LOGS ? 'query returned more results than are served' : undefined
  }
  node = await startStrictNode(url, {
    rejects: async (method, [filter]) =>
      method === 'eth_getLogs' ? refusedLogs(filter as Filter) : undefined,
  })
  return node
}

async function admitted(count: number): Promise<Hex[]> {
  const chain = bundling().at('0.7')
  const tank = await chain.createTank(0, { wei: parseEther('1') })
  const fees = { maxFeePerGas: parseGwei('5'), maxPriorityFeePerGas: parseGwei('1') }
  const choice = { random, version: '0.7', payer: 'deposit', tank, fees } as const
  const hashes: Hex[] = []
  for (let place = 0; place < count; place++)
    hashes.push((await admitEstimated(bundling().database, bundling(), choice)).hash)
  return hashes
}

/** Somebody else includes what is in our pool, each operation in a block of its own. */
async function includeElsewhere(hashes: readonly Hex[]): Promise<void> {
  for (const hash of hashes)
    await bundling()
      .at('0.7')
      .handleOps([(await bundling().stored(hash)).operation])
}

/** The ranges of blocks for which the service asked since the last time, in blocks. */
function askedRanges(): number[] {
  const bodies = node.bodies.splice(0) as (Asked | Asked[])[]
  return bodies.flat().flatMap(({ method, params }) => {
    const { fromBlock, toBlock } = (method === 'eth_getLogs' && params[0]) || {}
    return fromBlock && toBlock ? [Number(toBlock) - Number(fromBlock) + 1] : []
  })
}

const statesOf = (hashes: readonly Hex[]) =>
  Promise.all(hashes.map(async (hash) => (await bundling().stored(hash)).state))

test('after a long absence the index finds all, and asks for what the provider gives', async () => {
  const hashes = await admitted(5)
  await includeElsewhere(hashes)
  const blocks = 900
  await bundling().tester.mine({ blocks })
  askedRanges()
  await bundling().round()
  expect(await statesOf(hashes)).toEqual(hashes.map(() => 'included'))
  const asked = askedRanges()
  // The first request is halved until it is answered; later ones go over the limit by an eighth, now and then.
  expect(asked.filter((range) => range > 2 * MOST_BLOCKS).length).toBeLessThanOrEqual(7)
  expect(asked.length).toBeLessThan(blocks / 3)

  await bundling().tester.mine({ blocks: 500 })
  await bundling().round()
  // No operation is awaited, so nothing is asked for.
  expect(askedRanges()).toEqual([])
})

test('an operation that we do not know is searched by what is known of the limit', async () => {
  const chain = bundling().at('0.7')
  const drafted = await chain.draft('deployed', 'never sent to us')
  await chain.deposit(drafted.sender, parseEther('0.1'))
  const op = await chain.sign(drafted, 'never sent to us')
  const hash = chain.entryPoint.hash(op, bundling().chainId)
  await bundling().heads.refresh()
  askedRanges()
  expect(await operationReceipt(bundling().context, hash)).toBeUndefined()
  expect(askedRanges().length).toBeLessThanOrEqual(2)
  await chain.handleOps([op])
  await bundling().heads.refresh()
  expect(await operationReceipt(bundling().context, hash)).toMatchObject({ success: true })
})

test('what a deep reorg undid is searched within the limits, and found again', async () => {
  const { tester } = bundling()
  const hashes = await admitted(3)
  const before = await tester.snapshot()
  await includeElsewhere(hashes)
  const operations = await Promise.all(
    hashes.map(async (hash) => (await bundling().stored(hash)).operation),
  )
  await tester.mine({ blocks: 200 })
  await bundling().round()
  expect(await statesOf(hashes)).toEqual(['included', 'included', 'included'])

  await tester.revert({ id: before })
  await tester.mine({ blocks: 40 })
  for (const operation of operations) await bundling().at('0.7').handleOps([operation])
  await tester.mine({ blocks: 300 })
  askedRanges()
  await bundling().round()
  const asked = askedRanges()
  expect(asked.length).toBeGreaterThan(0)
  expect(asked.every((range) => range <= 2 * MOST_BLOCKS)).toBe(true)
  expect(await statesOf(hashes)).toEqual(['included', 'included', 'included'])
})
