import { sql } from 'kysely'
import { type Hex, parseEther } from 'viem'
import { expect, test } from 'vitest'
import { abandonBundle } from '../../src/bundler/outbox/outbox.js'
import { followChain } from '../../src/bundler/send/followChain.js'
import { adviseFees, mostBid } from '../../src/chain/fees.js'
import { bundleCharges, sharedGas } from '../../src/gas/preVerificationGas.js'
import { createNodeClient } from '../../src/chain/nodeClient.js'
import { startTroubledNode } from '../support/chain/troubledNode.js'
import { silent } from '../support/logger.js'
import { useSponsoredApp } from '../support/world/sponsoredApp.js'

/*
 * preVerificationGas is signed for a bundle of one; operations of an app's own tank come in larger ones. What the tank
 * paid beyond its share goes back to its deposit once the blocks are final.
 */

const FINAL_AFTER = 3
const SIZE = 6

const { world, chain, makeTank, ...app } = useSponsoredApp('0.7', {
  definition: { finalityDepth: FINAL_AFTER, maxBundleWait: 0, expectedBundleSize: 1 },
})

/** One bundle of operations that the app's tank pays; their hashes. `mine`: sends it, and waits for its end. */
async function bundleOf(size: number, mine = world().settle): Promise<Hex[]> {
  const drafts: Awaited<ReturnType<typeof app.draftOf>>[] = []
  while (drafts.length < size) drafts.push(await app.draftOf('deployed'))
  const hashes: Hex[] = []
  // All pay more than the bundle bids: an operation with a zero byte more costs 12 gas less, pays a lower tip, and would
  // wait for a bundle of its own.
  const { heads, definition } = world()
  const { node } = world().chain
  const { fast } = await adviseFees(node, await heads.refresh(), definition)
  const fees = mostBid(node, fast)
  for (const { seed, draft } of drafts) {
    const { operation, decision } = await app.ask({ ...draft, ...fees })
    expect(decision.sponsored).toBe(true)
    hashes.push(await world().admit(await chain().sign(operation, seed), chain().entryPoint))
  }
  await mine()
  return hashes
}

function surpluses() {
  return world()
    .database.selectFrom('surpluses')
    .selectAll()
    .where('chain_id', '=', BigInt(world().chainId))
    .execute()
}

async function owed(tank: Hex) {
  return (await surpluses()).filter((each) => each.tank === tank && each.bundle_id === null)
}

/** wei that the entries in double entry give executor and tank, of which others made no deposit. */
async function entries(tank: Hex) {
  const { rows } = await sql<Record<'executor' | 'deposit', bigint>>`select
      coalesce(sum(amount) filter (where account = 'executor'), 0)::numeric(78, 0) as executor,
      coalesce(sum(amount) filter (where account = 'tank' and holder = ${tank}), 0)::numeric(78, 0) as deposit
    from ledger_entries where chain_id = ${world().chainId} and currency = 'coin'`.execute(
    world().database,
  )
  return rows[0]!
}

/** wei of the executor and of the tank's deposit. */
async function wealth(tank: Hex) {
  const [executor, deposit] = await Promise.all([
    world().balanceOf(world().executors[0]!.address),
    chain().depositOf(tank),
  ])
  return { executor, deposit }
}

test('what a bundle charged above the share is booked, and a reorg undoes it', async () => {
  const { address: tank } = await makeTank(parseEther('5'))
  const before = await wealth(tank)
  const hashes = await bundleOf(SIZE)
  const [booked, ...others] = await surpluses()
  expect(others).toEqual([])
  const [first] = await Promise.all(hashes.map((hash) => world().receipt(hash)))
  const { effectiveGasPrice, transactionHash, gasUsed } = first!.receipt
  expect(booked).toMatchObject({ tank, transaction_hash: transactionHash, bundle_id: null })
  // The fixed gas of a bundle was paid six times, and came once.
  const shared = BigInt(sharedGas(chain().entryPoint, bundleCharges(world().definition)))
  const price = first!.actualGasCost / first!.actualGasUsed
  expect(booked!.amount).toBe(((shared * BigInt(SIZE - 1) * price) / BigInt(SIZE)) * BigInt(SIZE))
  const after = await wealth(tank)
  const [paid, cost] = [before.deposit - after.deposit, gasUsed * effectiveGasPrice]
  expect(paid).toBeGreaterThan((cost * 120n) / 100n)
  // At the price of the operations: the bundle bid less.
  expect(paid - booked!.amount).toBeLessThanOrEqual((gasUsed * price * 105n) / 100n)
  expect(paid - booked!.amount).toBeGreaterThanOrEqual(cost)

  await world().anvil.request('anvil_reorg', [1, []])
  await world().round()
  expect(await surpluses()).toEqual([])
  await world().settle()
  const [again] = await surpluses()
  expect(again).toMatchObject({ tank, transaction_hash: transactionHash, bundle_id: null })
})

test('it goes back when it is final and worth a transaction, once, whatever becomes of the first one', async () => {
  const { address: tank } = await makeTank(parseEther('5'))
  const [atFirst, entriesAtFirst] = [await wealth(tank), await entries(tank)]
  await bundleOf(SIZE)
  await world().mine(FINAL_AFTER)
  await world().round()
  expect(await world().openBundles()).toEqual([])
  // As many bundles as it takes.
  const booked = world().database.updateTable('surpluses').where('tank', '=', tank)
  await booked.set(({ eb }) => ({ amount: eb('amount', '*', 100n) })).execute()
  const expected = await owed(tank)
  const amount = expected.reduce((sum, each) => sum + each.amount, 0n)
  const before = await wealth(tank)

  await world().setAutomine(false)
  await world().round()
  const [lost] = await world().openBundles()
  expect(lost).toMatchObject({ kind: 'return', entryPoint: null, operationCount: 0 })
  expect(await owed(tank)).toEqual([])
  await world().round()
  expect(await world().openBundles()).toHaveLength(1)
  // The transaction is lost with its node, and no other takes its place by itself.
  await world().tester.dropTransaction({ hash: lost!.attempts[0].hash })
  await abandonBundle(world().database, lost!.id)
  expect(await owed(tank)).toEqual(expected)
  await world().setAutomine(true)
  await world().settle()
  await world().mine(FINAL_AFTER)
  await world().settle()

  const after = await wealth(tank)
  const returned = after.deposit - before.deposit
  expect(returned).toBeLessThan(amount)
  expect(returned).toBeGreaterThan((amount * 95n) / 100n)
  // The executor gives what it had earned before and no more.
  expect(before.executor - after.executor).toBeLessThanOrEqual(amount)
  expect(await owed(tank)).toEqual([])
  // The entries move as the chain does, to the wei.
  const ofEntries = await entries(tank)
  for (const name of ['executor', 'deposit'] as const)
    expect([name, ofEntries[name] - entriesAtFirst[name]]).toEqual([
      name,
      after[name] - atFirst[name],
    ])
})

test('it goes back once where a reorg undoes more blocks than can be undone on the chain', async () => {
  const { address: tank } = await makeTank(parseEther('5'))
  // The index takes all these blocks in one step, as after an outage: a fork counts from the block before.
  await bundleOf(SIZE, async () => {
    await world().round()
    await world().mine(2 * FINAL_AFTER)
    await world().round()
  })
  const booked = world().database.updateTable('surpluses').where('tank', '=', tank)
  await booked.set(({ eb }) => ({ amount: eb('amount', '*', 100n) })).execute()
  await world().mine(1)
  await world().settle()
  const returning = (await surpluses()).filter((each) => each.tank === tank)
  expect(returning).toMatchObject([{ bundle_id: expect.anything() }])
  const deposit = await chain().depositOf(tank)

  await world().anvil.request('anvil_reorg', [FINAL_AFTER, []])
  await world().round()
  await world().settle()
  await world().mine(FINAL_AFTER)
  await world().settle()
  expect((await surpluses()).filter((each) => each.tank === tank)).toEqual(returning)
  expect(await chain().depositOf(tank)).toBe(deposit)
})

test('it goes back once where a backend that is behind hides the transaction that returned it', async () => {
  const { address: tank } = await makeTank(parseEther('5'))
  await bundleOf(SIZE)
  await world().mine(FINAL_AFTER)
  await world().round()
  const booked = world().database.updateTable('surpluses').where('tank', '=', tank)
  await booked.set(({ eb }) => ({ amount: eb('amount', '*', 100n) })).execute()
  const amount = (await owed(tank)).reduce((sum, each) => sum + each.amount, 0n)
  const before = await chain().depositOf(tank)
  await world().mine()
  await world().round()
  expect(await world().openBundles()).toMatchObject([{ kind: 'return' }])
  expect(await chain().depositOf(tank)).toBeGreaterThan(before)

  const backend = await startTroubledNode(world().anvil.url)
  // It has neither the block nor what was mined in it.
  const methods = ['Receipt', 'ByHash'].map((what) => `eth_getTransaction${what}`)
  await backend.begin({ kind: 'unaware', methods: [...methods, 'eth_getBlockByHash'] })
  const node = createNodeClient({ urls: [backend.url], logger: silent })
  try {
    await world().mine()
    const head = await world().heads.refresh()
    await followChain({ ...world().context, node }, head).catch(() => undefined)
    expect(backend.met('eth_getTransactionByHash')).toBeGreaterThan(0)
  } finally {
    await node.close()
    await backend.stop()
  }
  await world().mine()
  await world().settle()
  expect((await chain().depositOf(tank)) - before).toBeLessThan(amount)
  expect(await owed(tank)).toEqual([])
})
