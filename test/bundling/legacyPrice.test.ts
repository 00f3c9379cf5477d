import { type Address, type Hex, parseEther, parseGwei } from 'viem'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { adviseFees } from '../../src/chain/fees.js'
import { requireBlocks } from '../../src/chain/requireChain.js'
import { sendTransaction } from '../../src/chain/sendTransaction.js'
import { anvilClient } from '../../src/devnet/anvilClient.js'
import { devKey } from '../../src/devnet/devKeys.js'
import type { Version } from '../../src/entrypoint/entryPoint.js'
import { inTransaction } from '../../src/store/inTransaction.js'
import { openBundles } from '../../src/store/outbox/bundles.js'
import { requestCancellation } from '../../src/store/pool/cancellations.js'
import { createRandom } from '../evm/random.js'
import {
  legacyArguments,
  prepareLegacy,
  priceOfRaw,
  startLegacyNode,
} from '../support/chain/legacyNode.js'
import { type MixedBundling, startMixedBundling } from '../support/chain/mixedBundling.js'
import { admitEstimated, type Payer, payers } from '../support/chain/payingOperations.js'
import { useDatabase } from '../support/database/database.js'
import { lower, TARGET, VERSIONS } from '../support/tanks/tankChain.js'

/* The node in front of anvil takes transactions with one gas price only, and tells of no base fee anywhere. */

const postgres = useDatabase()
const suggested = parseGwei('4')
const terms = { suggested, least: suggested / 2n }
const random = createRandom(173)

let bundling: MixedBundling
let plain: ReturnType<typeof anvilClient>
const tanks = new Map<Version, Address>()

beforeAll(async () => {
  const front = (url: string) => {
    plain = anvilClient(url)
    return startLegacyNode(url, terms)
  }
  bundling = await startMixedBundling(
    postgres().database,
    { transactionType: 'legacy', rules: 'off', maxBundleWait: 0, maxBundlesPerExecutor: 4 },
    { args: legacyArguments, prepare: prepareLegacy, front },
  )
  for (const version of VERSIONS)
    tanks.set(version, await bundling.chains[version].createTank(0, { wei: parseEther('10') }))
})
afterAll(() => bundling?.stop())

async function admit(version: Version, payer: Payer, tip: bigint, most = tip): Promise<Hex> {
  const fees = { maxFeePerGas: most, maxPriorityFeePerGas: tip }
  const choice = { random, version, payer, tank: tanks.get(version)!, fees }
  return (await admitEstimated(postgres().database, bundling, choice)).hash
}

const open = () => openBundles(postgres().database, bundling.chainId)

/** What the executors' mined transactions took and brought, by anvil itself and by the books. */
async function minedSince(block: bigint) {
  const rows = await postgres()
    .database.selectFrom('bundles')
    .select(['state', 'cost', 'transaction_hash'])
    .where('chain_id', '=', BigInt(bundling.chainId))
    .where('transaction_hash', 'is not', null)
    .execute()
  const mined = []
  for (const { state, cost, transaction_hash } of rows) {
    const receipt = await plain.getTransactionReceipt({ hash: transaction_hash! })
    if (receipt.blockNumber <= block) continue
    const logs = receipt.logs.map((log) => ({ ...log, address: lower(log.address) }))
    const chain = Object.values(bundling.chains).find(
      ({ entryPoint }) => entryPoint.address === receipt.to,
    )
    const outcomes = chain?.entryPoint.decodeOutcomes(logs) ?? []
    const earned = outcomes.reduce((sum, { actualGasCost }) => sum + actualGasCost, 0n)
    const owed = outcomes.filter(({ actualGasCost }) => actualGasCost === 0n)
    const price = receipt.effectiveGasPrice
    const paid = owed.reduce((sum, { actualGasUsed }) => sum + actualGasUsed * price, earned)
    const charged = receipt.gasUsed * price
    mined.push({ state, type: receipt.type, cost: cost!, charged, paid, earned, price })
  }
  return mined
}

test('operations of all payers and versions are included, paid for, and booked to the wei', async () => {
  const { tester, executors } = bundling
  const block = await plain.getBlockNumber()
  const before = await tester.getBalance({ address: executors[0]!.address })
  const hashes: Hex[] = []
  for (const version of VERSIONS) {
    await tester.setAutomine(true)
    for (const payer of payers) hashes.push(await admit(version, payer, parseGwei('5')))
    await tester.setAutomine(false)
    await bundling.round()
    await tester.mine({ blocks: 1 })
    await bundling.round()
  }
  for (const hash of hashes) {
    expect((await bundling.stored(hash)).state).toBe('included')
    const { receipt } = await bundling.receipt(hash)
    const { effectiveGasPrice } = await plain.getTransactionReceipt({
      hash: receipt.transactionHash,
    })
    expect(receipt).toMatchObject({ type: 0, effectiveGasPrice })
    expect(effectiveGasPrice).toBeLessThanOrEqual(suggested)
  }
  const mined = await minedSince(block)
  expect(mined.length).toBeGreaterThanOrEqual(VERSIONS.length)
  for (const { state, type, cost, charged, paid } of mined) {
    expect([state, type]).toEqual(['included', 'legacy'])
    expect(cost).toBe(charged)
    expect(paid).toBeGreaterThanOrEqual(charged)
  }
  const sum = (of: (bundle: (typeof mined)[number]) => bigint) =>
    mined.reduce((total, bundle) => total + of(bundle), 0n)
  const after = await tester.getBalance({ address: executors[0]!.address })
  expect(after - before).toBe(sum(({ earned }) => earned) - sum(({ cost }) => cost))
  // The base fee was 0 in truth, or these figures would be those of another chain.
  expect((await plain.getBlock()).baseFeePerGas).toBe(0n)
})

test('a stuck bundle is replaced at a price that nodes take, and what is cancelled by a legacy transaction', async () => {
  const { tester, roundAs } = bundling
  const block = await plain.getBlockNumber()
  await tester.setAutomine(true)
  const raised = await admit('0.7', 'balance', parseGwei('9'))
  await tester.setAutomine(false)
  await bundling.round()
  await roundAs({ resubmitAfter: 0 })
  const [{ attempts: bids }] = (await open()) as [Awaited<ReturnType<typeof open>>[number]]
  const prices = bids.map(({ raw }) => priceOfRaw(raw))
  expect(prices.map(({ type }) => type)).toEqual(['legacy', 'legacy'])
  expect(prices[1]!.gasPrice * 8n).toBeGreaterThanOrEqual(prices[0]!.gasPrice * 9n)
  await tester.mine({ blocks: 1 })
  await bundling.round()
  expect((await bundling.stored(raised)).state).toBe('included')

  await tester.setAutomine(true)
  const unwanted = await admit('0.7', 'balance', parseGwei('9'))
  await tester.setAutomine(false)
  await bundling.round()
  await inTransaction(postgres().database, (trx) =>
    requestCancellation(trx, bundling.chainId, unwanted, 'operator'),
  )
  await bundling.round()
  const [{ attempts: taken }] = (await open()) as [Awaited<ReturnType<typeof open>>[number]]
  expect(taken.map(({ raw, noop }) => [priceOfRaw(raw).type, noop])).toEqual([
    ['legacy', false],
    ['legacy', true],
  ])
  await tester.mine({ blocks: 1 })
  await bundling.round()
  const mined = await minedSince(block)
  expect(mined.map(({ state }) => state).sort()).toEqual(['cancelled', 'included'])
  for (const { cost, charged } of mined) expect(cost).toBe(charged)
})

test('an operation whose maximum is above its tip pays the tip, and its bundle no more', async () => {
  const block = await plain.getBlockNumber()
  await bundling.tester.setAutomine(true)
  const hash = await admit('0.6', 'tank', parseGwei('2.5'), parseGwei('50'))
  await bundling.tester.setAutomine(false)
  await bundling.round()
  await bundling.tester.mine({ blocks: 1 })
  await bundling.round()
  expect((await bundling.stored(hash)).state).toBe('included')
  const [{ cost, paid, price }] = (await minedSince(block)) as [
    Awaited<ReturnType<typeof minedSince>>[number],
  ]
  expect(price).toBe(parseGwei('2.5'))
  expect(paid).toBeGreaterThanOrEqual(cost)
})

test('advice is the price that the node suggests, and a command pays it', async () => {
  const { node } = bundling.context
  const head = await bundling.heads.refresh()
  // A bundle offers less than the maximum of its operations, see `highestPrice`.
  const advised = { maxFeePerGas: (suggested * 3n) / 2n, maxPriorityFeePerGas: suggested }
  expect(await adviseFees(node, head, bundling.definition)).toMatchObject({
    slow: advised,
    standard: advised,
    fast: advised,
  })
  await bundling.tester.setAutomine(true)
  const definition = { ...bundling.definition, pollInterval: 20 }
  const sent = await sendTransaction({ node, definition }, devKey(2), { to: TARGET, data: '0x' })
  expect(sent).toMatchObject({ type: 0, effectiveGasPrice: suggested })
})

test('what offers the advised fees is included where nodes take nothing below their suggestion', async () => {
  const { tester, heads, context, definition } = bundling
  const { slow } = await adviseFees(context.node, await heads.refresh(), definition)
  terms.least = suggested
  for (const version of VERSIONS) {
    await tester.setAutomine(true)
    const hash = await admit(version, 'tank', slow.maxPriorityFeePerGas, slow.maxFeePerGas)
    await tester.setAutomine(false)
    await bundling.round()
    await tester.mine({ blocks: 1 })
    await bundling.round()
    expect((await bundling.stored(hash)).state).toBe('included')
  }
  terms.least = suggested / 2n
})

test('an authorization is refused before anything is paid for it', async () => {
  const { chains, estimate } = bundling
  await bundling.tester.setAutomine(true)
  const call = chains['0.8'].onTarget('write', 1n, 1n)
  const op = await chains['0.8'].draft('delegated', 'legacy delegate', call)
  await expect(estimate(chains['0.8'].entryPoint, op)).rejects.toThrow(
    /eip7702Auth.*legacy transactions only/,
  )
  await expect(bundling.admit(chains['0.8'].entryPoint, op)).rejects.toThrow(
    /eip7702Auth.*legacy transactions only/,
  )
})

test('a definition that contradicts the headers ends the start with a sentence', async () => {
  const { definition, context } = bundling
  const typed = { ...definition, transactionType: 'eip1559' } as const
  await expect(requireBlocks(context.node, typed)).rejects.toThrow(
    `chain ${definition.chainId} have no base fee, so its nodes take no transactions of EIP-1559: set transactionType to legacy`,
  )
  await expect(requireBlocks(context.node, definition)).resolves.toBeUndefined()
})
