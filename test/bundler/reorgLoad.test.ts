import type { Hex } from 'viem'
import { describe, expect, test } from 'vitest'
import { findInclusion } from '../../src/bundler/outbox/inclusions.js'
import { until } from '../support/until.js'
import { executorKeys } from '../support/world/openWorld.js'
import { useWorld } from '../support/world.js'

describe('under load on two executors with three bundles each', () => {
  const chain = useWorld({
    definition: { executorKeys, maxBundlesPerExecutor: 3 },
  })

  const isIncluded = async (hash: Hex) => (await chain().stored(hash)).state === 'included'
  const all: Hex[] = []

  test.each(Array.from({ length: 10 }, (_, i) => i + 1))(
    'a reorg of depth %i loses nothing, doubles nothing, and corrects the receipts',
    async (depth) => {
      const senders: Hex[] = []
      for (let i = 0; i < 4; i++) senders.push(await chain().createAccount())
      await chain().setAutomine(false)
      for (let i = 0; i < 10; i++) await chain().anvil.request('evm_mine', [])
      const hashes: Hex[] = []
      for (const sender of senders) {
        hashes.push(await chain().admit(chain().operation(sender)))
        await chain().round()
        await chain().anvil.request('evm_mine', [])
      }
      for (let i = 1; i < depth; i++) await chain().anvil.request('evm_mine', [])
      await chain().round()
      const more = [
        await chain().admit(chain().operation(senders[0]!, { nonce: 1n })),
        await chain().admit(chain().operation(senders[1]!, { nonce: 1n << 64n })),
      ]
      await chain().round()
      await chain().anvil.request('anvil_reorg', [depth, []])
      await until(async () => {
        await chain().round()
        await chain().anvil.request('evm_mine', [])
        const done = await Promise.all([...hashes, ...more].map(isIncluded))
        return done.every(Boolean) && (await chain().openBundles()).length === 0
      })
      await chain().setAutomine(true)
      all.push(...hashes, ...more)
      await expectTrueBooks()
    },
  )

  /** Each operation is on the chain once, where our books say it is. */
  const expectTrueBooks = async (): Promise<void> => {
    const { address } = chain().entryPoint
    const logs = await chain().anvil.client.getLogs({ address, fromBlock: 0n })
    const events = logs.filter(({ topics }) => topics[0]?.startsWith('0x49628fd1'))
    for (const hash of all) {
      const [event, ...others] = events.filter(({ topics }) => (topics as Hex[])[1] === hash)
      expect(others).toEqual([])
      const inclusion = await findInclusion(chain().database, chain().definition.chainId, hash)
      expect(inclusion).toMatchObject({
        transactionHash: event?.transactionHash,
        blockHash: event?.blockHash,
        blockNumber: event?.blockNumber,
      })
      const { receipt } = await chain().receipt(hash)
      expect(receipt.blockHash).toBe(event?.blockHash)
    }
  }
})
