import { createPublicClient, type Hex, http } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type Database, openDatabase } from '../../src/db/database.js'
import { startEmbeddedPostgres } from '../../src/db/embedded/embeddedPostgres.js'
import { createEntryPoint } from '../../src/erc4337/createEntryPoint.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { putBundleSize } from '../../src/mempool/bundleSizes.js'
import { findOperation } from '../../src/mempool/pool/operations.js'
import { silent } from '../support/logger.js'
import { devAccount } from '../support/service/devAccount.js'
import { prepareServing, type Serving } from '../support/service/serving.js'
import { until } from '../support/until.js'
import { lower } from '../support/world/versionChain.js'

/*
 * `purser serve` with the default `expectedBundleSize`. Five minutes of traffic are too long for a test: the size is reported by
 * a row, as the bundler of another process reports it.
 */

const chainId = 845_313
let serving: Serving
let database: Database
let close: () => Promise<void>

beforeAll(async () => {
  serving = await prepareServing(chainId, async () => ({ maxBundleWait: 3_600_000, rules: 'off' }))
  const postgres = await startEmbeddedPostgres(serving.folder, silent)
  database = openDatabase(postgres.connection, silent, { size: 2 })
  close = async () => {
    await database.destroy()
    await postgres.stop()
  }
  await serving.start()
})
afterAll(async () => {
  await close?.()
  await serving?.stop()
})

function tell(size: number): Promise<void> {
  return putBundleSize(database, chainId, entryPoint(), size)
}

function entryPoint(): Hex {
  return lower(serving.info().entryPoints['0.6']!)
}

/** Gas that an operation spares where five others share with it, at least: five parts in six of some 32,000. */
const SPARED = 24_000n

/**
 * A new account's operation, estimated by the service once it uses the size that is reported: sizes are a second old
 * at most.
 */
async function estimated(name: string, size: number, isReckoned: (op: Operation) => boolean) {
  const account = await devAccount(serving.info(), name)
  const op = await until(async () => {
    await tell(size)
    const drafted = await account.selfPaid()
    return isReckoned(drafted) && drafted
  })
  return { op, send: () => account.send(op) }
}

const stored = (hash: Hex) => findOperation(database, chainId, hash)

/** What every bundle so far was paid and what it cost, by the chain's own receipts. */
async function bundles() {
  const client = createPublicClient({ transport: http(serving.info().rpcUrl) })
  const rows = await database
    .selectFrom('bundles')
    .select(['transaction_hash', 'cost', 'state'])
    .where('chain_id', '=', BigInt(chainId))
    .where('transaction_hash', 'is not', null)
    .execute()
  return Promise.all(
    rows.map(async ({ transaction_hash, cost, state }) => {
      const receipt = await client.getTransactionReceipt({ hash: transaction_hash! })
      const logs = receipt.logs.map((log) => ({ ...log, address: lower(log.address) }))
      const outcomes = createEntryPoint('0.6', entryPoint()).decodeOutcomes(logs)
      const earned = outcomes.reduce((sum, { actualGasCost }) => sum + actualGasCost, 0n)
      const charged = receipt.gasUsed * receipt.effectiveGasPrice
      return { state, cost: cost!, charged, earned, operations: outcomes.length }
    }),
  )
}

test('estimates fall in a burst and rise after it, and no bundle costs more than it is paid', async () => {
  const quiet = await estimated('quiet', 1, () => true)
  const alone = await quiet.send()
  await until(async () => (await stored(alone))?.state === 'included')
  const isShared = ({ preVerificationGas }: Operation) =>
    preVerificationGas < quiet.op.preVerificationGas - SPARED

  const burst = []
  for (let place = 0; place < 6; place++) burst.push(await estimated(`burst ${place}`, 6, isShared))
  const hashes: Hex[] = []
  for (const { send } of burst) hashes.push(await send())
  await until(async () => {
    const states = await Promise.all(hashes.map(async (hash) => (await stored(hash))?.state))
    return states.every((state) => state === 'included')
  })

  // The burst is over. One that was estimated in it is admitted all the same: it pays for the company that it expected.
  const late = await estimated('late', 6, isShared)
  await tell(1)
  const waiting = await late.send()
  await estimated('after', 1, (op) => !isShared(op))
  expect((await stored(waiting))?.sharedBy).toBeGreaterThanOrEqual(6)

  const all = await bundles()
  expect(all.length).toBeGreaterThanOrEqual(2)
  for (const { state, cost, charged, earned } of all) {
    expect(state).toBe('included')
    expect(cost).toBe(charged)
    expect(earned).toBeGreaterThanOrEqual(cost)
  }
  expect(all.reduce((sum, { operations }) => sum + operations, 0)).toBeGreaterThanOrEqual(7)
})
