import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import {
  startTroubledNode,
  type Trouble,
  type TroubledNode,
} from '../support/chain/troubledNode.js'
import { inclusions } from '../support/database/books.js'
import { included, intentsOf, prepare, send } from '../support/service/intents.js'
import { prepareServing, type Serving } from '../support/service/serving.js'
import { until } from '../support/until.js'

let serving: Serving
let nodes: TroubledNode[] = []
beforeAll(async () => {
  serving = await prepareServing(1_017, async ({ rpcUrl }) => {
    nodes = await Promise.all([1, 2, 3].map(() => startTroubledNode(rpcUrl)))
    return { rpcUrls: nodes.map(({ url }) => url) }
  })
  await serving.start()
})
afterEach(() => nodes[0]!.end())
afterAll(async () => {
  await serving?.stop()
  await Promise.all(nodes.map((node) => node.stop()))
})

/** Settles when `node` does not rest any more after its last trouble. */
async function isAskedAgain(node: TroubledNode): Promise<void> {
  await node.begin({ kind: 'slow', milliseconds: 0 })
  await until(async () => node.met() > 0)
}

const troubles: readonly (readonly [string, Trouble])[] = [
  ['is stopped', { kind: 'stopped' }],
  ['answers garbage', { kind: 'garbage' }],
  ['answers from an old block', { kind: 'old', block: 1n }],
  ['answers errors to eth_call', { kind: 'error', methods: ['eth_call'] }],
  ['answers errors to eth_getLogs', { kind: 'error', methods: ['eth_getLogs'] }],
]

test.each(troubles)('the other nodes serve while the preferred one %s', async (name, trouble) => {
  const before = await inclusions(serving.info())
  await isAskedAgain(nodes[0]!)
  await nodes[0]!.begin(trouble)
  const intents = intentsOf(name, 2).map((each) => ({ ...each, payer: 'self' as const }))
  for (const intent of intents) await prepare(serving.info(), intent)
  for (const intent of intents) await send(serving.info(), intent)
  await included(serving.info(), intents)
  expect(await inclusions(serving.info())).toBe(before + intents.length)
  if (trouble.kind !== 'stopped') expect(nodes[0]!.met()).toBeGreaterThan(0)
  expect((await fetch(`${serving.info().url}/health/ready`)).status).toBe(200)
})
