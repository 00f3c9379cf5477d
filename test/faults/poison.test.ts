import { encodeFunctionData, type Hex, parseGwei } from 'viem'
import { describe, expect, test } from 'vitest'
import { TraceRefusedError } from '../../src/base/errors/simulationErrors.js'
import type { BundlingContext } from '../../src/bundler/bundlingContext.js'
import { followChain } from '../../src/bundler/send/followChain.js'
import { sendBundles } from '../../src/bundler/send/sendBundles.js'
import { createNodeClient } from '../../src/chain/nodeClient.js'
import { NodeRpcError, NodeUnavailableError } from '../../src/chain/nodeErrors.js'
import { operationsInBundle } from '../../src/mempool/pool/operations.js'
import { startChangedNode } from '../support/chain/changedNode.js'
import { silent } from '../support/logger.js'
import { executorKeys } from '../support/world/openWorld.js'
import { settableAccountAbi } from '../support/world/settableAccounts.js'
import { useFreshWorld, useWorld } from '../support/world.js'

const chain = useWorld({
  definition: { executorKeys, maxBundlesPerExecutor: 4 },
})

/** Transactions of all executors so far. */
async function transactions(): Promise<number> {
  const counts = await Promise.all(
    chain().executors.map(({ address }) => chain().anvil.client.getTransactionCount({ address })),
  )
  return counts.reduce((sum, count) => sum + count, 0)
}

async function reverted(): Promise<number> {
  const { chainId } = chain().definition
  const rows = await chain()
    .database.selectFrom('bundles')
    .select('id')
    .where('chain_id', '=', BigInt(chainId))
    .where('state', '=', 'reverted')
    .execute()
  return rows.length
}

/** Admits operations of new accounts until there are `count` hashes. */
async function admitGood(count: number): Promise<Hex[]> {
  const hashes: Hex[] = []
  while (hashes.length < count)
    hashes.push(await chain().admit(chain().operation(await chain().createAccount())))
  return hashes
}

/** A round through a node that cannot simulate bundles behind each other. */
async function roundApart(): Promise<void> {
  const plain = await startChangedNode(chain().anvil.url, (method, _params, answer) => {
    if (method !== 'eth_simulateV1') return answer
    return { jsonrpc: '2.0', id: Object(answer).id, error: { code: -32601, message: 'no' } }
  })
  const node = createNodeClient({ urls: [plain.url], logger: silent })
  try {
    const context = { ...chain().context, node }
    const followed = await followChain(context, await chain().heads.refresh())
    if (followed === undefined) throw new Error('the chain could not be followed')
    await sendBundles(context, followed, { turn: 0, freshHead: true })
  } finally {
    await node.close()
    await plain.stop()
  }
}

test('an operation that a sibling turns into poison costs 200 others few transactions', async () => {
  const before = await transactions()
  const victim = await chain().createAccount()
  const flip = encodeFunctionData({
    abi: settableAccountAbi,
    functionName: 'set',
    args: [true, false, 0n],
  })
  const callData = encodeFunctionData({
    abi: settableAccountAbi,
    functionName: 'poke',
    args: [victim, flip],
  })
  const flipper = await chain().admit(
    chain().operation(await chain().createAccount(), {
      callData,
      maxPriorityFeePerGas: parseGwei('3'),
    }),
  )
  const some = await admitGood(48)
  const poison = await chain().admit(chain().operation(victim))
  const good = [flipper, ...some, ...(await admitGood(151))]
  expect(good).toHaveLength(200)

  // Two bundles are signed on the same state; the node forgets the poisoned one until the other,
  // with the operation that poisons it, is mined.
  await chain().setAutomine(false)
  await roundApart()
  const open = await chain().openBundles()
  const [flipped, poisoned] = await Promise.all(
    [flipper, poison].map(async (hash) => {
      const { bundleId } = await chain().stored(hash)
      return open.find(({ id }) => id === bundleId)!
    }),
  )
  expect(flipped!.id).not.toBe(poisoned!.id)
  const together = (await operationsInBundle(chain().database, poisoned!.id)).length
  expect(together).toBeGreaterThan(32)
  const size = Math.min(together, (await operationsInBundle(chain().database, flipped!.id)).length)
  await chain().anvil.request('anvil_dropTransaction', [poisoned!.attempts[0].hash])
  await chain().anvil.request('evm_mine', [])
  await chain().setAutomine(true)
  await chain().settle()
  while ((await chain().stored(poison)).state === 'pooled') await chain().settle()

  for (const hash of good) expect((await chain().stored(hash)).state).toBe('included')
  expect(await chain().stored(poison)).toMatchObject({
    state: 'dropped',
    reasonCode: 'AA23',
    reason: expect.stringContaining('not in the mood'),
  })
  const needed = Math.ceil(200 / size)
  const extra = (await transactions()) - before - needed
  expect(await reverted()).toBe(1)
  // The failed bundle, and its others in groups of 32.
  expect(extra).toBeLessThanOrEqual(1 + Math.ceil(together / 32) + 1)
})

describe('an operation about which the node gives no answer', () => {
  const strict = useFreshWorld({ versions: ['0.7'], definition: { rules: 'full' } })

  const admit = async (seed: string) => {
    const { account, accountDraft, entryPoint, fund, sign } = strict().at('0.7')
    const { address } = await account(seed)
    await fund(address)
    return strict().admit(await sign(await accountDraft(seed), seed), entryPoint)
  }

  test.each([
    new NodeUnavailableError('debug_traceCall'),
    new TraceRefusedError(new NodeRpcError(-32_000, 'execution timeout', undefined)),
  ])('waits, and keeps no other back: $name', async (trouble) => {
    const mute = await admit('mute')
    const { sender } = (await strict().stored(mute)).operation
    const good = await admit('good')
    const { engine } = strict().context
    let tried = 0
    const context: BundlingContext = {
      ...strict().context,
      engine: {
        ...engine,
        recall: async () => new Map(),
        async validate(entryPoint, op, override) {
          if (op.sender !== sender) return engine.validate(entryPoint, op, override)
          tried++
          throw trouble
        },
      },
    }
    const followed = await followChain(context, await strict().heads.refresh())
    if (followed === undefined) throw new Error('the chain could not be followed')
    await sendBundles(context, followed, { turn: 0, freshHead: true })
    expect(tried).toBe(1)
    expect((await strict().stored(mute)).state).toBe('pooled')
    expect((await strict().stored(good)).state).toBe('bundled')
  })
})
