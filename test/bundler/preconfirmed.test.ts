import type { Address, Hex } from 'viem'
import { expect, test } from 'vitest'
import { openBundles } from '../../src/bundler/outbox/bundles.js'
import { startBundler } from '../../src/bundler/startBundler.js'
import { operationStatus } from '../../src/bundler/operationViews.js'
import type { NodeClient } from '../../src/chain/nodeClient.js'
import { createPendingBlock } from '../../src/bundler/pendingBlock.js'
import { until } from '../support/until.js'
import { useWorld } from '../support/world.js'

/* anvil's own pending block, which holds what its pool would mine. */

/** Bundles that the one executor, which may have one in flight, may have open on promises. */
const MOST = 4

const chain = useWorld({ definition: { preconfirmations: true } })

test('a bundle in the pending block is preconfirmed, until it is dropped from it or mined', async () => {
  const op = chain().operation(await chain().createAccount())
  const hash = await chain().admit(op)
  await chain().setAutomine(false)
  const views = chain().context
  const status = async () => operationStatus(views, hash)
  expect((await status())?.preconfirmed).toBeUndefined()
  await chain().round()
  const promised = await until(async () => {
    const answer = await status()
    return answer?.preconfirmed && answer
  })
  expect(promised).toMatchObject({ state: 'SUBMITTED', receipt: undefined })
  // The same chain where nobody says that its pending block is a promise.
  const plain = await operationStatus({ ...views, pending: undefined }, hash)
  expect(plain).toEqual({ ...promised, message: undefined, preconfirmed: undefined })

  await chain().anvil.request('anvil_dropTransaction', [promised.transactionHash])
  await until(async () => (await status())?.preconfirmed === undefined)
  expect((await chain().stored(hash)).state).toBe('bundled')

  await chain().setAutomine(true)
  await chain().anvil.request('evm_mine', [])
  await chain().settle()
  const done = await status()
  expect(done).toMatchObject({ state: 'CONFIRMED', receipt: { success: true } })
  expect(done?.preconfirmed).toBeUndefined()
})

test('a promised bundle frees its executor before the next block, up to a bound', async () => {
  const { definition, heads } = chain()
  const accounts: Address[] = []
  while (accounts.length < MOST + 2) accounts.push(await chain().createAccount())
  await chain().setAutomine(false)
  const before = await chain().anvil.client.getBlockNumber({ cacheTime: 0 })
  const bundler = startBundler(chain().context, heads)
  try {
    const hashes: Hex[] = []
    const states = () => Promise.all(hashes.map(async (hash) => (await chain().stored(hash)).state))
    for (const account of accounts) {
      hashes.push(await chain().admit(chain().operation(account)))
      bundler.wake()
      if (hashes.length <= MOST) await until(async () => (await states()).at(-1) === 'bundled')
    }
    expect(await openBundles(chain().database, definition.chainId)).toHaveLength(MOST)
    expect(await states()).toEqual([...Array(MOST).fill('bundled'), 'pooled', 'pooled'])
    expect(await chain().anvil.client.getBlockNumber({ cacheTime: 0 })).toBe(before)
    await chain().setAutomine(true)
    await chain().anvil.request('evm_mine', [])
    await until(async () => {
      await heads.refresh()
      return (await states()).every((state) => state === 'included')
    })
  } finally {
    await bundler.stop()
  }
})

test('a node that shows no pending block promises nothing', async () => {
  const { node } = chain().context
  const refusing: NodeClient = { ...node, request: () => node.request('no_method', []) }
  expect(await createPendingBlock(refusing).transactions()).toEqual(new Set())
})
