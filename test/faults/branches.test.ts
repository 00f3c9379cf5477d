import { numberToHex } from 'viem'
import { afterAll, afterEach, beforeAll, expect, test } from 'vitest'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import { type Anvil, startAnvil } from '../support/chain/startAnvil.js'
import { startTroubledNode, type TroubledNode } from '../support/chain/troubledNode.js'
import { expectBalancedBooks, withBooks } from '../support/database/books.js'
import { type Intent, included, intentsOf, prepare, send } from '../support/service/intents.js'
import { prepareServing, type Serving } from '../support/service/serving.js'
import { until } from '../support/until.js'

/*
 * Two nodes of one chain that are on different branches of it: the same id and block 0, other blocks since the newest ones. The
 * branch of the second one is a fork of the chain, behind the address at which that node is known.
 */

let serving: Serving
let nodes: TroubledNode[] = []
const branches: Anvil[] = []
const sent: Intent[] = []

beforeAll(async () => {
  serving = await prepareServing(1_043, async ({ rpcUrl }) => {
    nodes = await Promise.all([1, 2].map(() => startTroubledNode(rpcUrl)))
    return { rpcUrls: nodes.map(({ url }) => url) }
  })
  await serving.start()
})
afterEach(async () => {
  for (const node of nodes) await node.end()
})
afterAll(async () => {
  await serving?.stop()
  await Promise.all([...branches, ...nodes].map((each) => each.stop()))
})

/** A branch that leaves the chain at its newest block and is `blocks` long. */
async function branchOf(blocks: number): Promise<Anvil> {
  const branch = await startAnvil(['--fork-url', serving.chain.rpcUrl])
  branches.push(branch)
  await branch.request('evm_increaseTime', [30])
  await branch.request('anvil_mine', [numberToHex(blocks)])
  return branch
}

/** Operations that pay for themselves, with accounts that the chain has given money to. */
async function prepareAll(name: string, count: number): Promise<readonly Intent[]> {
  const intents = intentsOf(name, count).map((each) => ({ ...each, payer: 'self' as const }))
  const ready = (intent: Intent) =>
    prepare(serving.info(), intent).then(
      () => true,
      () => false,
    )
  for (const intent of intents)
    await until(async () => {
      if (await ready(intent)) return true
      await goOn(1)
      return false
    })
  return intents
}

async function sendPrepared(intents: readonly Intent[]): Promise<void> {
  for (const intent of intents) await until(() => send(serving.info(), intent).catch(() => false))
  sent.push(...intents)
}

async function sendAll(name: string, count: number): Promise<readonly Intent[]> {
  const intents = await prepareAll(name, count)
  await sendPrepared(intents)
  return intents
}

/** Blocks as a living chain makes them: a head that was seen is not taken back before the chain is as high. */
async function goOn(blocks = 8): Promise<void> {
  await anvilClient(serving.chain.rpcUrl).mine({ blocks })
}

/** The operations that the chain includes, each once, are those that were acknowledged, and the books are the chain. */
async function expectTruth(): Promise<void> {
  await goOn()
  await until(async () => {
    const open = await withBooks(serving.folder, (database) =>
      database.selectFrom('bundles').select('id').where('state', '=', 'signed').execute(),
    )
    return open.length === 0
  })
  const hashes = await included(serving.info(), sent)
  await expectBalancedBooks(serving.folder, serving.info(), hashes)
}

const lengths = [
  ['is shorter', 1],
  ['is longer', 6],
] as const

test.each(lengths)(
  'nothing is lost or doubled while the branch of the second node %s',
  async (name, blocks) => {
    await included(serving.info(), await sendAll(`${name}, before`, 2))
    const branch = await branchOf(blocks)
    await nodes[1]!.begin({ kind: 'elsewhere', url: branch.url })
    await sendAll(`${name}, meanwhile`, 3)
    await until(async () => nodes[1]!.met() > 0)
    expect((await fetch(`${serving.info().url}/health/live`)).status).toBe(200)
    await nodes[1]!.end()
    await expectTruth()
  },
)

test('nor where only the node on the other branch answers for a while, which is lower', async () => {
  const intents = await prepareAll('alone, on the other branch', 2)
  await included(serving.info(), await sendAll('alone, before', 2))
  const branch = await branchOf(1)
  await included(serving.info(), await sendAll('alone, on the branch that is left', 2))
  await nodes[1]!.begin({ kind: 'elsewhere', url: branch.url })
  await nodes[0]!.begin({ kind: 'stopped' })
  await sendPrepared(intents)
  await until(async () => nodes[1]!.met('eth_sendRawTransaction') > 0)
  await Promise.all(nodes.map((node) => node.end()))
  await expectTruth()
})
