import { type Hex, numberToHex } from 'viem'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { openBundles } from '../../src/bundler/outbox/bundles.js'
import { indexedBlocks } from '../../src/bundler/outbox/chainBlocks.js'
import { findInclusion } from '../../src/bundler/outbox/inclusions.js'
import { indexBlocks } from '../../src/bundler/settle/indexBlocks.js'
import { createNodeClient } from '../../src/chain/nodeClient.js'
import { getBlock } from '../../src/chain/nodeReads.js'
import { devContracts } from '../../src/cli/devnet/devContracts.js'
import { keyFromSeed, simpleAccount } from '../../src/cli/devnet/simpleAccount.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { putUnchecked } from '../../src/mempool/pool/putOperations.js'
import { startTroubledNode } from '../support/chain/troubledNode.js'
import { useDatabase } from '../support/database/database.js'
import { silent } from '../support/logger.js'
import { until } from '../support/until.js'
import { openWorld, type World } from '../support/world/openWorld.js'

const postgres = useDatabase()
function database() {
  return postgres().database
}

describe('the index of inclusions', () => {
  let chain: World

  beforeEach(async () => {
    chain = await openWorld(database())
  })

  afterEach(async () => {
    await chain.stop()
  })

  const inclusion = (hash: Hex) => findInclusion(database(), chain.definition.chainId, hash)

  /** Makes an operation pooled without asking whether it may be. */
  const putKnown = async (operation: Operation): Promise<Hex> => {
    const { definition, appId } = chain
    const { chainId } = definition
    const entryPoint = chain.entryPoint.address
    const hash = chain.entryPoint.hash(operation, chainId)
    const seenBlock = 0n
    await putUnchecked(database(), chainId, [
      { hash, entryPoint, appId, operation, prefund: 1n, assuredPrice: 10n ** 11n, seenBlock },
    ])
    return hash
  }

  const mine = async (blocks: number): Promise<void> => {
    for (let i = 0; i < blocks; i++) {
      await chain.anvil.request('evm_mine', [])
      await chain.round()
    }
  }

  test('reads few headers for a head that comes several blocks after the last one', async () => {
    await mine(20)
    await chain.mine(3)
    const { context, heads } = chain
    const asked: string[] = []
    const node: typeof context.node = {
      ...context.node,
      async batch(calls) {
        asked.push(...calls.map(({ method }) => method))
        return context.node.batch(calls)
      },
    }
    const head = heads.current()
    expect(await indexBlocks({ ...context, node }, head)).toBeDefined()
    const [newest] = await indexedBlocks(database(), chain.definition.chainId)
    expect(newest?.hash).toBe(head.hash)
    expect(asked.filter((method) => method === 'eth_getBlockByNumber').length).toBeLessThan(6)
  })

  test('begins at no head that the node made up', async () => {
    const chainId = 999_999
    const context = { ...chain.context, definition: { ...chain.definition, chainId } }
    const head = await chain.heads.refresh()
    const madeUp = { ...head, number: 10n ** 9n }
    await expect(indexBlocks(context, madeUp)).rejects.toThrow('and not block 999999968')
    expect(await indexBlocks(context, head)).toBeDefined()
    const [newest] = await indexedBlocks(database(), chainId)
    expect(newest?.hash).toBe(head.hash)
  })

  test('settles an operation that someone else has included, without a bundle of ours', async () => {
    const op = chain.operation(await chain.createAccount())
    const hash = await chain.admit(op)
    const { transactionHash } = await chain.carry([op])
    await chain.settle()
    expect(await chain.stored(hash)).toMatchObject({ state: 'included', bundleId: null })
    expect(await chain.status(hash)).toMatchObject({
      state: 'CONFIRMED',
      message: 'Transaction was frontrunned, check the new transaction hash in receipt',
      transactionHash,
    })
  })

  test('settles an operation that was front-run while our bundle was on its way', async () => {
    const ops = [
      chain.operation(await chain.createAccount()),
      chain.operation(await chain.createAccount()),
    ]
    const hashes = [await chain.admit(ops[0]!), await chain.admit(ops[1]!)]
    await chain.anvil.request('evm_setAutomine', [false])
    await chain.round()
    const data = chain.entryPoint.encodeHandleOps([ops[0]!], chain.anvil.account)
    await chain.anvil.request('eth_sendTransaction', [
      {
        from: chain.anvil.account,
        to: chain.entryPoint.address,
        data,
        gas: numberToHex(1_000_000),
        maxPriorityFeePerGas: numberToHex(10n ** 12n),
        maxFeePerGas: numberToHex(10n ** 13n),
      },
    ])
    await chain.anvil.request('evm_mine', [])
    await chain.anvil.request('evm_setAutomine', [true])
    await chain.round()
    expect(await chain.stored(hashes[0]!)).toMatchObject({ state: 'included', bundleId: null })
    await chain.settle()
    expect(await chain.stored(hashes[1]!)).toMatchObject({ state: 'included', attempts: 1 })
  })

  test('settles a dropped operation that is included after all', async () => {
    const sender = await chain.createAccount()
    const other = await chain.createAccount()
    const op = chain.operation(sender)
    const hash = await chain.admit(op)
    await chain.configure(sender, { refuses: true })
    await chain.round()
    expect((await chain.stored(hash)).state).toBe('dropped')
    await chain.configure(sender, {})
    await chain.admit(chain.operation(other))
    await chain.carry([op])
    await chain.settle()
    expect(await chain.stored(hash)).toMatchObject({ state: 'included', reason: null })
  })

  test('finds an inclusion that it had no reason to look for', async () => {
    const op = chain.operation(await chain.createAccount())
    await chain.carry([op])
    await chain.round()
    const hash = await putKnown(op)
    await chain.round()
    expect((await chain.stored(hash)).state).toBe('included')
  })

  test('finds the inclusion of an operation that created its account', async () => {
    const { factory } = devContracts('0.6')
    const account = await simpleAccount(
      {
        read: async (to, data) => (await chain.anvil.client.call({ to, data })).data ?? '0x',
        isDeployed: async () => false,
      },
      {
        ownerKey: keyFromSeed('created'),
        factory,
        entryPoint: chain.entryPoint.address,
      },
    )
    await chain.anvil.request('anvil_setBalance', [account.address, numberToHex(10n ** 18n)])
    const { factory: creator, factoryData, callData } = await account.draft({ to: account.address })
    const limits = { factory: creator, factoryData, callData, verificationGasLimit: 500_000n }
    const { chainId } = chain.definition
    const unsigned = chain.operation(account.address, limits)
    const op = await account.sign(unsigned, chain.entryPoint.hash(unsigned, chainId))
    await chain.carry([op])
    await chain.round()
    const hash = await putKnown(op)
    await chain.round()
    expect(await chain.stored(hash)).toMatchObject({ state: 'included', reason: null })
  })

  for (const depth of [1, 3, 8]) {
    test(`takes back what a reorg of ${depth} blocks undid, and includes it once more`, async () => {
      const hash = await chain.admit(chain.operation(await chain.createAccount()))
      await chain.settle()
      const before = await chain.receipt(hash)
      await mine(depth - 1)
      await chain.anvil.request('anvil_reorg', [depth, []])
      await chain.round()
      expect(await inclusion(hash)).toBeUndefined()
      expect((await chain.stored(hash)).state).toBe('bundled')
      await chain.settle()
      const after = await chain.receipt(hash)
      expect(after.receipt.transactionHash).toBe(before.receipt.transactionHash)
      expect(after.receipt.blockHash).not.toBe(before.receipt.blockHash)
      expect((await chain.stored(hash)).state).toBe('included')
    })
  }

  test('marks an operation anew that the new chain includes in another block', async () => {
    const hash = await chain.admit(chain.operation(await chain.createAccount()))
    await chain.settle()
    const before = await inclusion(hash)
    await mine(2)
    const raw = await chain.anvil.request('eth_getRawTransactionByHash', [before!.transactionHash])
    await chain.anvil.request('anvil_reorg', [3, [[raw, 1]]])
    await chain.round()
    const after = await inclusion(hash)
    expect(after?.transactionHash).toBe(before?.transactionHash)
    expect(after?.blockNumber).toBe(before!.blockNumber + 1n)
    expect((await chain.stored(hash)).state).toBe('included')
  })

  test('returns an operation that someone else included to the pool when its block goes', async () => {
    const op = chain.operation(await chain.createAccount())
    const hash = await chain.admit(op)
    await chain.carry([op])
    await chain.settle()
    await chain.anvil.request('anvil_reorg', [1, []])
    const head = await chain.heads.refresh()
    await indexBlocks(chain.context, head)
    expect((await chain.stored(hash)).state).toBe('pooled')
    await chain.settle()
    expect((await chain.stored(hash)).state).toBe('included')
  })

  test('includes one of two operations when a reorg frees a nonce and another one takes it', async () => {
    const op = chain.operation(await chain.createAccount())
    const first = await chain.admit(op)
    await chain.settle()
    await chain.anvil.request('anvil_reorg', [1, []])
    await chain.heads.refresh()
    const second = await chain.admit({ ...op, callGasLimit: 61_000n })
    await chain.settle()
    const states = [(await chain.stored(first)).state, (await chain.stored(second)).state]
    expect(states.filter((state) => state === 'included')).toHaveLength(1)
    await mine(1)
    expect(await openBundles(database(), chain.definition.chainId)).toEqual([])
  })

  test('undoes a block whose successor was settled before: two operations took the same nonce', async () => {
    const op = chain.operation(await chain.createAccount())
    const replaced = await chain.admit(op)
    const { maxFeePerGas, maxPriorityFeePerGas } = op
    const ours = await chain.admit({
      ...op,
      maxFeePerGas: 2n * maxFeePerGas,
      maxPriorityFeePerGas: 2n * maxPriorityFeePerGas,
    })
    await chain.settle()
    expect(await chain.stateOf(ours)).toBe('included')
    // Somebody else includes the first one in the new block, and a client asks for it before the index hears of the fork.
    await chain.anvil.request('anvil_rollback', [1])
    await chain.carry([op])
    expect((await chain.receipt(replaced)).success).toBe(true)
    await chain.settle()
    expect(await chain.stateOf(replaced)).toBe('included')
    expect(await chain.stored(ours)).toMatchObject({
      state: expect.stringMatching('replaced|dropped'),
    })
  })

  test('catches up on blocks that it missed, in steps that a node allows', async () => {
    await chain.stop()
    chain = await openWorld(database(), { definition: { logRange: 3 } })
    const ops = [
      chain.operation(await chain.createAccount()),
      chain.operation(await chain.createAccount()),
    ]
    const hashes = [await chain.admit(ops[0]!), await chain.admit(ops[1]!)]
    for (const op of ops) {
      await chain.anvil.request('anvil_mine', ['0x4'])
      await chain.carry([op])
    }
    await chain.anvil.request('anvil_mine', ['0x4'])
    await indexBlocks(chain.context, await chain.heads.refresh())
    for (const hash of hashes) expect((await chain.stored(hash)).state).toBe('included')
  })

  test('reads no whole chain again when the node fails during a reorg deeper than final blocks', async () => {
    await chain.stop()
    chain = await openWorld(database(), { definition: { finalityDepth: 3 } })
    const op = chain.operation(await chain.createAccount())
    await mine(12)
    const { number } = chain.heads.current()
    await putKnown(op)
    await chain.anvil.request('anvil_reorg', [8, []])
    const backend = await startTroubledNode(chain.anvil.url)
    await backend.begin({ kind: 'error', methods: ['eth_getLogs'] })
    const node = createNodeClient({ urls: [backend.url], logger: silent })
    try {
      const head = await chain.heads.refresh()
      await expect(indexBlocks({ ...chain.context, node }, head)).rejects.toThrow()
    } finally {
      await node.close()
      await backend.stop()
    }
    const [newest] = await indexedBlocks(database(), chain.definition.chainId)
    expect(newest!.number).toBeGreaterThan(number - 8n)
    await chain.settle()
    await chain.round()
    expect(await chain.stored(chain.entryPoint.hash(op, chain.chainId))).toMatchObject({
      state: 'included',
    })
  })

  test('leaves everything as it is while the node shows an older block', async () => {
    const hash = await chain.admit(chain.operation(await chain.createAccount()))
    await chain.settle()
    await mine(3)
    const older = await getBlock(chain.context.node, chain.heads.current().number - 2n)
    expect(await indexBlocks(chain.context, older!)).toBeUndefined()
    expect((await chain.stored(hash)).state).toBe('included')
  })

  test('remembers the blocks that may still change, the first one, and few more', async () => {
    await mine(chain.definition.finalityDepth + 10)
    const blocks = await indexedBlocks(database(), chain.definition.chainId)
    const head = chain.heads.current()
    expect(blocks[0]).toEqual({ number: head.number, hash: head.hash })
    expect(blocks.at(-1)?.number).toBe(0n)
    expect(blocks).toHaveLength(chain.definition.finalityDepth + 2)
  })

  test('keeps all of a chain whose node answers with another block 0', async () => {
    const hash = await chain.admit(chain.operation(await chain.createAccount()))
    await chain.settle()
    const before = await indexedBlocks(database(), chain.definition.chainId)
    await expect(
      openWorld(database(), {
        args: ['--timestamp', String(Math.floor(Date.now() / 1000) - 1_000)],
        definition: { chainId: chain.definition.chainId },
      }),
    ).rejects.toThrow('does not answer')
    expect((await chain.stored(hash)).state).toBe('included')
    expect(await indexedBlocks(database(), chain.definition.chainId)).toEqual(before)
  })

  test('starts over when a development chain was reset', async () => {
    const hash = await chain.admit(chain.operation(await chain.createAccount()))
    await chain.settle()
    const other = await chain.createAccount()
    await chain.anvil.request('evm_setAutomine', [false])
    const waiting = await chain.admit(chain.operation(other))
    await chain.round()
    expect((await chain.stored(waiting)).state).toBe('bundled')
    const genesisTime = String(Math.floor(Date.now() / 1000) - 1_000)
    const fresh = await openWorld(database(), {
      args: ['--timestamp', genesisTime],
      definition: { chainId: chain.definition.chainId, restarts: true },
    })
    try {
      expect(await chain.stored(hash)).toMatchObject({
        state: 'dropped',
        reasonCode: 'CHAIN_RESET',
      })
      expect((await chain.stored(waiting)).state).toBe('dropped')
      const anew = await fresh.admit(fresh.operation(await fresh.createAccount()))
      await until(async () => {
        await fresh.settle()
        return (await fresh.stored(anew)).state === 'included'
      })
    } finally {
      await fresh.stop()
    }
  })
})
