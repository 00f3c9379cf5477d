import type { Hex } from 'viem'
import { expect, test } from 'vitest'
import { openBundles } from '../../src/bundler/outbox/bundles.js'
import { refuseBundle, storeBundle } from '../../src/bundler/outbox/outbox.js'
import { useDatabase } from '../support/database/database.js'

const postgres = useDatabase()

test('a bundle that was refused can be signed again with the same bytes', async () => {
  const { database } = postgres()
  const chainId = 9_001
  const executor = `0x${'e0'.repeat(20)}` as const
  const bundle = { chainId, kind: 'operations', entryPoint: executor, executor, nonce: 3n } as const
  const hash: Hex = `0x${'5a'.repeat(32)}`
  const fees = { maxFeePerGas: 2n, maxPriorityFeePerGas: 1n, maxCost: 100n }
  const attempt = { hash, raw: '0x04', noop: false, ...fees } as const
  const first = await storeBundle(database, bundle, attempt, [])
  await refuseBundle(database, first!, 5)
  const second = await storeBundle(database, bundle, attempt, [])
  expect(second).not.toBe(first)
  const open = await openBundles(database, chainId)
  expect(
    open.map(({ id, attempts }) => ({ id, hashes: attempts.map((each) => each.hash) })),
  ).toEqual([{ id: second, hashes: [hash] }])
})
