import { afterAll, beforeAll, expect, test } from 'vitest'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import { startTroubledNode, type TroubledNode } from '../support/chain/troubledNode.js'
import { inclusions, withBooks } from '../support/database/books.js'
import { included, intentsOf, prepare, send } from '../support/service/intents.js'
import { prepareServing, type Serving } from '../support/service/serving.js'
import { until } from '../support/until.js'

/** Milliseconds of each request to the node, and the operations that are sent meanwhile. */
const [delay, count] = process.env.PURSER_FAULTS === 'full' ? [600, 60] : [200, 24]

let serving: Serving
let node: TroubledNode
beforeAll(async () => {
  serving = await prepareServing(1_041, async ({ rpcUrl }) => {
    node = await startTroubledNode(rpcUrl)
    const executorKeys = [1, 2, 3, 4].map(devKey)
    // Few operations fit into a bundle, so that every lane has some.
    return { rpcUrls: [node.url], executorKeys, facts: { maxBundleGas: 1_000_000 } }
  })
  await serving.start()
})
afterAll(async () => {
  await serving?.stop()
  await node?.stop()
})

test('bundles are seen as included while others are being sent, however slow the node is', async () => {
  const intents = intentsOf('slow', count).map((each) => ({ ...each, payer: 'self' as const }))
  for (const intent of intents) await prepare(serving.info(), intent)
  await node.begin({ kind: 'slow', milliseconds: delay })
  await Promise.all(intents.map((intent) => send(serving.info(), intent)))
  await included(serving.info(), intents)
  const bundles = await until(async () => {
    const rows = await withBooks(serving.folder, (database) =>
      database.selectFrom('bundles').select(['created_at', 'updated_at', 'state']).execute(),
    )
    return rows.every(({ state }) => state !== 'signed') && rows
  })
  await node.end()
  expect(await inclusions(serving.info())).toBe(count)
  expect(bundles.filter(({ state }) => state !== 'included')).toEqual([])
  expect(bundles.length).toBeGreaterThanOrEqual(8)
  // Each is mined as it is sent: those that are signed before it is seen are what it waits for.
  const overtaking = bundles.map(
    (bundle) =>
      bundles.filter(
        ({ created_at: signed }) => signed > bundle.created_at && signed < bundle.updated_at,
      ).length,
  )
  expect(Math.max(...overtaking), String(overtaking)).toBeLessThanOrEqual(4)
})
