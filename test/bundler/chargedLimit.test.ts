import { type Address, type Hex, keccak256, numberToHex, parseEther, parseGwei } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { ChargedGas } from '../../src/chain/definition/chainDefinition.js'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import { leastCharged } from '../../src/gas/preVerificationGas.js'
import { createRandom } from '../evm/random.js'
import { admitEstimated } from '../support/chain/payingOperations.js'
import { type Strictness, startStrictNode } from '../support/chain/strictNode.js'
import { useDatabase } from '../support/database/database.js'
import { openWorld, type World } from '../support/world/openWorld.js'
import { VERSIONS } from '../support/world/versionChain.js'

/* No node that tests can run charges for a gas limit: the one in front of anvil does, by receipts and balances. */

const postgres = useDatabase()
const baseFee = parseGwei('1')
const fees = { maxFeePerGas: parseGwei('5'), maxPriorityFeePerGas: parseGwei('1') }

type RawReceipt = { transactionHash: Hex; gasUsed: Hex; from: Address; effectiveGasPrice: Hex }

/** A chain that takes money for part of a bundle's gas limit at least, as its receipts tell. */
async function startCharging(chargedGas: ChargedGas, reported: ChargedGas, bundleSize: number) {
  const limits = new Map<Hex, bigint>()
  const charged = (receipt: RawReceipt): bigint => {
    const least = leastCharged(chargedGas, limits.get(receipt.transactionHash) ?? 0n)
    return least > BigInt(receipt.gasUsed) ? least : BigInt(receipt.gasUsed)
  }
  const asCharged = (receipt: RawReceipt) => {
    return { ...receipt, gasUsed: numberToHex(charged(receipt)) }
  }
  const strictness: Strictness = {
    refuses: ({ gas = 0n }, raw) => {
      limits.set(keccak256(raw), gas)
      return undefined
    },
    change: (method, _, result) => {
      if (method === 'eth_getTransactionReceipt' && result) return asCharged(result as RawReceipt)
      if (method === 'eth_getBlockReceipts' && result)
        return (result as RawReceipt[]).map(asCharged)
      return result
    },
  }
  let anvil = ''
  const front = (url: string) => {
    anvil = url
    return startStrictNode(url, strictness)
  }
  const definition = {
    chargedGas: reported,
    expectedBundleSize: bundleSize,
    rules: 'off',
    maxBundleWait: 3_600_000,
  } as const
  const args = ['--block-base-fee-per-gas', String(baseFee)]
  const losesWei = chargedGas !== reported
  const bundling = await openWorld(postgres().database, { definition, args, front, losesWei })
  const plain = anvilClient(anvil)
  /** Takes of the executors what anvil did not take for the newest block's bundles. */
  const charge = async (): Promise<void> => {
    const { transactions } = await plain.getBlock()
    for (const hash of transactions.filter((each) => limits.has(each))) {
      const receipt = await plain.getTransactionReceipt({ hash })
      const { from: address, gasUsed, effectiveGasPrice } = receipt
      const raw = { transactionHash: hash, gasUsed: numberToHex(gasUsed) } as RawReceipt
      const value =
        (await plain.getBalance({ address })) - (charged(raw) - gasUsed) * effectiveGasPrice
      await plain.setBalance({ address, value })
    }
  }
  return { ...bundling, charge }
}

/** Bundles of seeded operations; what each paid and cost, by the chain's own figures. */
async function sendBundles(
  bundling: World & { charge(): Promise<void> },
  tanks: ReadonlyMap<Version, Address>,
  bundleSize: number,
) {
  const { tester, executors, chainId } = bundling
  const random = createRandom(71 + bundleSize)
  const before = await tester.getBalance({ address: executors[0]!.address })
  for (const version of VERSIONS) {
    await tester.setAutomine(true)
    for (let place = 0; place < bundleSize; place++) {
      const payer = (['balance', 'deposit', 'tank', 'operator'] as const)[place % 4]!
      const tank = tanks.get(version)!
      await admitEstimated(postgres().database, bundling, { random, version, payer, tank, fees })
    }
    await tester.setAutomine(false)
    await tester.setNextBlockBaseFeePerGas({ baseFeePerGas: baseFee })
    await bundling.round()
    await tester.setNextBlockBaseFeePerGas({ baseFeePerGas: baseFee })
    await tester.mine({ blocks: 1 })
    await bundling.charge()
    await bundling.round()
  }
  const rows = await postgres()
    .database.selectFrom('bundles')
    .select(['state', 'cost', 'transaction_hash', 'operation_count'])
    .where('chain_id', '=', BigInt(chainId))
    .execute()
  const bundles = []
  for (const { state, cost, transaction_hash, operation_count } of rows) {
    const receipt = await tester.getTransactionReceipt({ hash: transaction_hash! })
    const outcomes = bundling.outcomesOf(receipt)
    const earned = outcomes.reduce((sum, { actualGasCost }) => sum + actualGasCost, 0n)
    // The operator's account is charged for gas of operations without fees.
    const owed = outcomes.filter(({ actualGasCost }) => actualGasCost === 0n)
    const paid = owed.reduce(
      (sum, { actualGasUsed }) => sum + actualGasUsed * receipt.effectiveGasPrice,
      earned,
    )
    const charged = receipt.gasUsed * receipt.effectiveGasPrice
    bundles.push({ state, operations: operation_count, cost: cost!, charged, paid, earned })
  }
  const after = await tester.getBalance({ address: executors[0]!.address })
  return { bundles, gained: after - before }
}

describe.each([
  ['halfLimit', 1],
  ['halfLimit', 4],
  ['limit', 1],
  ['limit', 4],
] as const)('on a chain that charges for %s, in bundles of %i', (chargedGas, bundleSize) => {
  let bundling: Awaited<ReturnType<typeof startCharging>>
  const tanks = new Map<Version, Address>()
  beforeAll(async () => {
    bundling = await startCharging(chargedGas, chargedGas, bundleSize)
    for (const version of VERSIONS)
      tanks.set(version, await bundling.at(version).createTank(0, { wei: parseEther('50') }))
  })
  afterAll(() => bundling?.stop())

  test('operations pay for what their bundle is charged, and the books are the chain to the wei', async () => {
    const { bundles, gained } = await sendBundles(bundling, tanks, bundleSize)
    expect(bundles).toHaveLength(VERSIONS.length)
    for (const { state, operations, cost, charged, paid } of bundles) {
      expect([state, operations]).toEqual(['included', bundleSize])
      expect(cost).toBe(charged)
      expect(paid).toBeGreaterThanOrEqual(cost)
    }
    const sum = (of: (bundle: (typeof bundles)[number]) => bigint) =>
      bundles.reduce((total, bundle) => total + of(bundle), 0n)
    expect(gained).toBe(sum(({ earned }) => earned) - sum(({ cost }) => cost))
  })
})

test('a definition that does not say so loses money with every bundle there', async () => {
  const bundling = await startCharging('limit', 'used', 1)
  try {
    const tanks = new Map<Version, Address>()
    for (const version of VERSIONS)
      tanks.set(version, await bundling.at(version).createTank(0, { wei: parseEther('50') }))
    const { bundles, gained } = await sendBundles(bundling, tanks, 1)
    expect(bundles.every(({ paid, charged }) => paid < charged)).toBe(true)
    expect(gained).toBeLessThan(-parseEther('0.0001'))
    expect(await bundling.uncoveredBundles()).toBe(bundles.length)
  } finally {
    await bundling.stop()
  }
})
