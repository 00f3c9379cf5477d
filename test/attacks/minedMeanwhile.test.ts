import type { Hex } from 'viem'
import { describe, expect, test } from 'vitest'
import { followChain } from '../../src/bundler/send/followChain.js'
import { sendBundles } from '../../src/bundler/send/sendBundles.js'
import { createNodeClient } from '../../src/chain/nodeClient.js'
import { dropOperations } from '../../src/mempool/pool/operations.js'
import { startChangedNode } from '../support/chain/changedNode.js'
import { silent } from '../support/logger.js'
import { useFreshWorld } from '../support/world.js'

/**
 * Not an attacker but a node: while it builds block N + 1 it answers a question about block N with the
 * state of N + 1. A bundle that is being mined then looks replaced, and an operation that is being included
 * looks like one whose nonce somebody else has used. Given up, the bundle is paid for and its operations go
 * into a second one that reverts; dropped, an included operation is reported as lost.
 */
describe('while a block is being mined', () => {
  const chain = useFreshWorld()

  const open = () => chain().openBundles()

  /** A round through a node that counts one transaction too many, asked in one of these ways. */
  const roundAhead = async (isAhead: (block: unknown) => boolean): Promise<void> => {
    const ahead = await startChangedNode(chain().anvil.url, (method, params, answer) =>
      method === 'eth_getTransactionCount' && isAhead(params[1])
        ? { ...answer, result: `0x${(BigInt(answer.result as Hex) + 1n).toString(16)}` }
        : answer,
    )
    const node = createNodeClient({ urls: [ahead.url], logger: silent })
    try {
      await followChain({ ...chain().context, node }, await chain().heads.refresh())
    } finally {
      await node.close()
      await ahead.stop()
    }
  }

  test.each([
    ['by number', (block: unknown) => typeof block === 'string'],
    ['in any way', () => true],
  ])('a bundle is kept though a node asked %s counts it as mined', async (_, isAhead) => {
    const hash = await chain().admit(chain().operation(await chain().createAccount()))
    await chain().setAutomine(false)
    await chain().round()
    const [bundle] = await open()
    for (let rounds = 0; rounds < 3; rounds++) await roundAhead(isAhead)
    expect((await open()).map(({ id }) => id)).toEqual([bundle!.id])
    await chain().anvil.request('evm_mine', [])
    await chain().round()
    expect(await chain().stored(hash)).toMatchObject({ state: 'included', attempts: 0 })
  })

  test('an operation that the next block includes is not dropped for its used nonce', async () => {
    const op = chain().operation(await chain().createAccount())
    const hash = await chain().admit(op)
    // The index stands at this head when the node already has the next block.
    const followed = await followChain(chain().context, await chain().heads.refresh())
    await chain().carry([op])
    await sendBundles(chain().context, followed!, { turn: 0, freshHead: true })
    expect((await chain().stored(hash)).state).toBe('pooled')
    await chain().round()
    expect((await chain().stored(hash)).state).toBe('included')
    expect(await chain().status(hash)).toMatchObject({ state: 'CONFIRMED' })
  })

  test('a drop is corrected when the chain includes the operation all the same', async () => {
    const op = chain().operation(await chain().createAccount())
    const hash = await chain().admit(op)
    const drop = { hash, code: 'AA25', reason: 'AA25 invalid account nonce' } as const
    await dropOperations(chain().database, chain().definition.chainId, [drop])
    await chain().carry([op])
    await chain().round()
    expect((await chain().stored(hash)).state).toBe('included')
  })
})
