import { expect, test } from 'vitest'
import { createPendingBlock, operationStatus } from '../../src/bundler/operationViews.js'
import type { NodeClient } from '../../src/chain/nodeClient.js'
import { until } from '../support/until.js'
import { useWorld } from '../support/world.js'

/* anvil's own pending block, which holds what its pool would mine. */

const chain = useWorld()

test('a bundle in the pending block is preconfirmed, until it is dropped from it or mined', async () => {
  const op = chain().operation(await chain().createAccount())
  const hash = await chain().admit(op)
  await chain().setAutomine(false)
  const { node } = chain().context
  const views = { ...chain().context, pending: createPendingBlock(node) }
  const status = async () => operationStatus(views, hash)
  expect((await status())?.preconfirmed).toBeUndefined()
  await chain().round()
  const promised = await until(async () => {
    const answer = await status()
    return answer?.preconfirmed && answer
  })
  expect(promised).toMatchObject({ state: 'SUBMITTED', receipt: undefined })
  // The same chain where nobody says that its pending block is a promise.
  const plain = await chain().status(hash)
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

test('a node that shows no pending block promises nothing', async () => {
  const { node } = chain().context
  const refusing: NodeClient = { ...node, request: () => node.request('no_method', []) }
  expect(await createPendingBlock(refusing)()).toEqual(new Set())
})
