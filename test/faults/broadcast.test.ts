import { createPublicClient, type Hex, http } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import { startTroubledNode, type TroubledNode } from '../support/chain/troubledNode.js'
import { expectBalancedBooks, withBooks } from '../support/database/books.js'
import { type Intent, included, intentsOf, prepare, send } from '../support/service/intents.js'
import { counterOf, metricsToken } from '../support/service/metricsOf.js'
import { prepareServing, type Serving } from '../support/service/serving.js'
import { until } from '../support/until.js'

const count = process.env.PURSER_FAULTS === 'full' ? 2_000 : 60
/** Operations that are prepared, or sent, at the same time. */
const AT_ONCE = 20
/** Milliseconds within which a signed bundle reaches the chain's pool while nodes are in trouble. */
const SOON = 5_000

let serving: Serving
let nodes: TroubledNode[] = []
beforeAll(async () => {
  serving = await prepareServing(1_051, async ({ rpcUrl }) => {
    nodes = await Promise.all([1, 2, 3].map(() => startTroubledNode(rpcUrl)))
    return { rpcUrls: nodes.map(({ url }) => url) }
  })
  await serving.start({ PURSER_OPERATOR_TOKEN: metricsToken })
})
afterAll(async () => {
  await serving?.stop()
  await Promise.all(nodes.map((node) => node.stop()))
})

async function inParts(intents: readonly Intent[], step: (intent: Intent) => Promise<unknown>) {
  for (let begin = 0; begin < intents.length; begin += AT_ONCE)
    await Promise.all(intents.slice(begin, begin + AT_ONCE).map(step))
}

/** Hashes of the transactions in flight, as the outbox has them. */
function inFlight(): Promise<readonly Hex[]> {
  return withBooks(serving.folder, async (database) => {
    const rows = await database
      .selectFrom('bundles as b')
      .innerJoin('bundle_transactions as t', 't.bundle_id', 'b.id')
      .select('t.hash')
      .where('b.state', '=', 'signed')
      .execute()
    return rows.map(({ hash }) => hash)
  })
}

/** Transactions that a node accepted before the others. */
function share({ url }: TroubledNode): Promise<number> {
  const labels = `node="${new URL(url).host}",outcome="first"`
  return counterOf(serving.info(), 'purser_broadcasts_total', labels)
}

/** Whether no operation waits, for a bundle or in one. */
function isEmpty(): Promise<boolean> {
  return withBooks(serving.folder, async (database) => {
    const rows = await database.selectFrom('operations').select('state').execute()
    return !rows.some(({ state }) => state === 'pooled' || state === 'bundled')
  })
}

test('one node hangs, one refuses, one is behind: bundles are in the next block, none twice', async () => {
  const { rpcUrl } = serving.chain
  const anvil = anvilClient(rpcUrl)
  const reader = createPublicClient({ transport: http(rpcUrl) })
  const intents = intentsOf('broadcast', count).map((each) => ({ ...each, payer: 'self' as const }))
  await inParts(intents, (intent) => prepare(serving.info(), intent))

  await anvil.setAutomine(false)
  const [first, second, third] = nodes
  await first!.begin({ kind: 'hangs' })
  await second!.begin({ kind: 'error', methods: ['eth_sendRawTransaction'] })
  await third!.begin({ kind: 'behind', blocks: 1n })
  // A head that was seen is not taken back: the node that is behind must reach it first.
  await anvil.mine({ blocks: 2 })
  const [opening] = intents
  await until(() => send(serving.info(), opening!).catch(() => undefined))
  let done = false
  const sending = inParts(intents, (intent) => send(serving.info(), intent)).finally(() => {
    done = true
  })
  sending.catch(() => undefined)

  let longest = 0
  for (;;) {
    const signed = await until(async () => {
      const hashes = await inFlight()
      return (hashes.length > 0 || (done && (await isEmpty()))) && hashes
    })
    if (signed.length === 0) break
    // What is signed is in the chain's pool soon, whatever the other nodes do …
    const begin = performance.now()
    for (const hash of signed)
      await until(() => reader.getTransaction({ hash }).catch(() => undefined))
    longest = Math.max(longest, performance.now() - begin)
    // … and in the next block.
    await anvil.mine({ blocks: 1 })
    for (const hash of signed)
      expect(await reader.getTransactionReceipt({ hash })).toMatchObject({ status: 'success' })
    const { queued } = await anvil.getTxpoolStatus()
    expect(queued, 'behind a missing nonce').toBe(0)
  }
  await sending
  expect(longest).toBeLessThan(SOON)
  const shares = await Promise.all(nodes.map(share))
  expect(shares[2]).toBeGreaterThan(0)
  expect(shares.slice(0, 2)).toEqual([0, 0])

  for (const node of nodes) await node.end()
  await anvil.setAutomine(true)
  const hashes = await included(serving.info(), intents)
  await expectBalancedBooks(serving.folder, serving.info(), hashes)
})
