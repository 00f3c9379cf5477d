import { brotliCompressSync, constants } from 'node:zlib'
import { type Address, type Hex, numberToHex, parseEther, parseGwei, parseTransaction } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { AnvilClient } from '../../src/cli/devnet/anvilClient.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import { createRandom } from '../evm/random.js'
import { admitEstimated } from '../support/chain/payingOperations.js'
import { useDatabase } from '../support/database/database.js'
import { randomRuns } from '../support/runs.js'
import { openWorld, type World } from '../support/world/openWorld.js'
import { VERSIONS } from '../support/world/versionChain.js'

const postgres = useDatabase()
const ARB_GAS_INFO = '0x000000000000000000000000000000000000006c'
/** Code that answers a call with the storage slot that its selector names. */
const ANSWERS_BY_SELECTOR = '0x5f3560e01c545f5260205ff3'
const selectors = { pricePerUnit: 0xf5d6ded7, minimumGasPrice: 0xf918379a } as const

const baseFee = parseGwei('1')
const fees = { maxFeePerGas: parseGwei('5'), maxPriorityFeePerGas: parseGwei('1') }
/** wei per unit: data are a few percent of what a lone operation pays. */
const pricePerUnit = parseGwei('2')

/** The contract that tells Arbitrum's prices; their gas is charged by the test's own arithmetic, anvil knows none. */
async function openArbitrum(tester: AnvilClient): Promise<void> {
  await tester.setCode({ address: ARB_GAS_INFO, bytecode: ANSWERS_BY_SELECTOR })
  const store = (selector: number, value: bigint) =>
    tester.setStorageAt({
      address: ARB_GAS_INFO,
      index: numberToHex(selector, { size: 32 }),
      value: numberToHex(value, { size: 32 }),
    })
  await store(selectors.pricePerUnit, pricePerUnit)
  await store(selectors.minimumGasPrice, baseFee)
}

/** Gas that Arbitrum takes for signed bytes: 16 units for each byte after Brotli 1, at the price of a unit. */
function posterGasOf(raw: Hex): bigint {
  const { BROTLI_PARAM_QUALITY: quality, BROTLI_PARAM_LGWIN: window } = constants
  const bytes = Buffer.from(raw.slice(2), 'hex')
  const { length } = brotliCompressSync(bytes, { params: { [quality]: 1, [window]: 22 } })
  return (BigInt(length) * 16n * pricePerUnit) / baseFee
}

describe.each([1, 5])('on an Arbitrum chain, in bundles of %i', (bundleSize) => {
  let bundling: World
  const tanks = new Map<Version, Address>()

  beforeAll(async () => {
    const definition = {
      dataFee: 'arbitrum',
      calldataFloor: false,
      expectedBundleSize: bundleSize,
      rules: 'off',
    } as const
    // Cancun has no floor price of calldata, as Arbitrum has none.
    const launch = { args: ['--hardfork', 'cancun'], prepare: openArbitrum }
    bundling = await openWorld(postgres().database, { definition, ...launch })
    for (const version of VERSIONS)
      tanks.set(version, await bundling.at(version).createTank(0, { wei: parseEther('50') }))
  })
  afterAll(() => bundling?.stop())

  const mineAt = async (baseFeePerGas: bigint) => {
    await bundling.tester.setNextBlockBaseFeePerGas({ baseFeePerGas })
    await bundling.tester.mine({ blocks: 1 })
  }

  test('the gas limit holds the gas for data, and the operations pay for it', async () => {
    const random = createRandom(31 + bundleSize)
    const sums = { paid: 0n, cost: 0n, data: 0n }
    for (let done = 0; done < Math.max(randomRuns(40), bundleSize); done += bundleSize) {
      const version = VERSIONS[(done / bundleSize) % VERSIONS.length]!
      await bundling.tester.setAutomine(true)
      for (let place = 0; place < bundleSize; place++) {
        const payer = random.pick(['balance', 'deposit', 'tank'] as const)
        const tank = tanks.get(version)!
        await mineAt(baseFee)
        const choice = { random, version, payer, tank, fees }
        await admitEstimated(postgres().database, bundling, choice)
      }
      await bundling.tester.setAutomine(false)
      await bundling.round()
      await mineAt(baseFee)
      await bundling.round()
    }
    const sent = await postgres()
      .database.selectFrom('bundle_transactions')
      .select(['hash', 'raw'])
      .where('chain_id', '=', BigInt(bundling.chainId))
      .execute()
    for (const { hash, raw } of sent) {
      const { gasUsed, logs, status, to } = await bundling.tester.getTransactionReceipt({ hash })
      const outcomes = bundling.outcomesOf({ to, logs })
      expect([status, outcomes.length]).toEqual(['success', bundleSize])
      const poster = posterGasOf(raw)
      // Nitro takes the gas for data out of the limit before the transaction runs.
      expect(parseTransaction(raw).gas!).toBeGreaterThanOrEqual(gasUsed + poster)
      const paid = outcomes.reduce((sum, { actualGasCost }) => sum + actualGasCost, 0n)
      const cost = (gasUsed + poster) * (baseFee + fees.maxPriorityFeePerGas)
      // With a tip that the chain would not even collect.
      expect(paid).toBeGreaterThanOrEqual(
        gasUsed * (baseFee + fees.maxPriorityFeePerGas) + poster * baseFee,
      )
      sums.paid += paid
      sums.cost += cost
      sums.data += poster
    }
    expect(sent.length).toBeGreaterThan(0)
    expect(sums.data).toBeGreaterThan(0n)
    const overcharge = Number(((sums.paid - sums.cost) * 10_000n) / sums.cost) / 100
    expect(overcharge).toBeLessThanOrEqual(5)
  })
})
