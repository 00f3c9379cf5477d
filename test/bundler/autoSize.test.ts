import { type Address, type Hex, parseEther, parseGwei } from 'viem'
import { beforeAll, describe, expect, test } from 'vitest'
import { PreVerificationGasTooLowError } from '../../src/base/errors/operationErrors.js'
import { createBundleSizes, createSizeWatch, putBundleSize } from '../../src/mempool/bundleSizes.js'
import { createRandom } from '../evm/random.js'
import { admitEstimated } from '../support/chain/payingOperations.js'
import { useDatabase } from '../support/database/database.js'
import type { World } from '../support/world/openWorld.js'
import { useWorld } from '../support/world.js'

const fees = { maxFeePerGas: parseGwei('5'), maxPriorityFeePerGas: parseGwei('1') }
/** The tip is so small compared with it that no operation can go alone that pays for a share only. */
const baseFee = parseGwei('2')

const postgres = useDatabase()

describe('operations priced by the size that nearly all bundles reached', () => {
  const bundling = useWorld(
    {
      definition: {
        expectedBundleSize: 'auto',
        maxBundleWait: 3_600_000,
        rules: 'off',
      },
    },
    postgres,
  )
  let tank: Address
  let entryPoint: Address
  const random = createRandom(41)

  beforeAll(async () => {
    const chain = bundling().at('0.7')
    entryPoint = chain.entryPoint.address
    tank = await chain.createTank(0, { wei: parseEther('50') })
  })

  const tell = async (size: number): Promise<void> => {
    await putBundleSize(bundling().database, bundling().chainId, entryPoint, size)
    await bundling().services.sizes.newest(entryPoint)
  }
  const mine = async (): Promise<void> => {
    await bundling().tester.setNextBlockBaseFeePerGas({ baseFeePerGas: baseFee })
    await bundling().tester.mine({ blocks: 1 })
  }
  /** Operations that were estimated while `size` was reported, which holds for some seconds only. */
  const admitMany = async (count: number, size = 1): Promise<Hex[]> => {
    await bundling().tester.setAutomine(true)
    const hashes: Hex[] = []
    for (let place = 0; place < count; place++) {
      const payer = random.pick(['balance', 'deposit', 'tank'] as const)
      const choice = { random, version: '0.7', payer, tank, fees } as const
      await mine()
      await tell(size)
      const { hash } = await admitEstimated(bundling().database, bundling(), choice)
      hashes.push(hash)
    }
    await bundling().tester.setAutomine(false)
    return hashes
  }
  const wealth = async (): Promise<bigint> => {
    const { executors, tester } = bundling()
    const balances = executors.map(({ address }) => tester.getBalance({ address }))
    return (await Promise.all(balances)).reduce((sum, wei) => sum + wei, 0n)
  }
  /** Sends what can go and mines it; the executors have no less afterwards. */
  const bundle = async (changes: Parameters<World['roundAs']>[0] = {}): Promise<void> => {
    await mine()
    const before = await wealth()
    await bundling().roundAs(changes)
    await mine()
    await bundling().roundAs(changes)
    expect(await wealth()).toBeGreaterThanOrEqual(before)
  }
  const statesOf = (hashes: readonly Hex[]) =>
    Promise.all(hashes.map(async (hash) => (await bundling().stored(hash)).state))
  const gasOf = async (hashes: readonly Hex[]): Promise<number> => {
    const ops = await Promise.all(hashes.map((hash) => bundling().stored(hash)))
    const sum = ops.reduce((total, { operation }) => total + operation.preVerificationGas, 0n)
    return Number(sum) / hashes.length
  }

  test('in bursts and lulls the operator never loses, and rejected operations learn their price', async () => {
    const before = await wealth()
    const alone = await admitMany(3)
    await bundle()
    expect(await statesOf(alone)).toEqual(['included', 'included', 'included'])

    // A burst: each bundle has at least the size that was reported, or some more.
    const shared: Hex[] = []
    for (const [size, count] of [
      [3, 4],
      [6, 6],
      [6, 8],
    ] as const) {
      const hashes = await admitMany(count, size)
      await bundle()
      expect(new Set(await statesOf(hashes))).toEqual(new Set(['included']))
      shared.push(...hashes)
    }
    expect(await gasOf(shared)).toBeLessThan((await gasOf(alone)) * 0.65)

    // The burst ends: two are left over, wait, and learn with what they can go alone.
    const leftOver = await admitMany(2, 6)
    await tell(1)
    await bundle()
    expect(await statesOf(leftOver)).toEqual(['pooled', 'pooled'])
    await bundle({ maxBundleWait: 0 })
    for (const hash of leftOver) {
      const { state, reasonCode, reason } = await bundling().stored(hash)
      expect({ state, reasonCode }).toEqual({ state: 'dropped', reasonCode: 'BUNDLE_NOT_SHARED' })
      expect(reason).toMatch(/preVerificationGas \d+, with which it can go alone/)
    }
    const late = await admitMany(1)
    await bundle()
    expect(await statesOf(late)).toEqual(['included'])
    expect(await wealth()).toBeGreaterThan(before)
  })

  test('an operation that one process estimated is admitted by another after the size fell', async () => {
    const { database } = bundling()
    const chain = bundling().at('0.7')
    await bundling().tester.setAutomine(true)
    /** Estimated and signed, not sent yet. */
    const estimated = async (name: string) => {
      const drafted = { ...(await chain.draft('deployed', name)), ...fees }
      await chain.deposit(drafted.sender, parseEther('0.1'))
      await tell(4)
      const { callGasLimit, verificationGasLimit, preVerificationGas } = await bundling().estimate(
        chain.entryPoint,
        drafted,
      )
      const limited = { ...drafted, callGasLimit, verificationGasLimit, preVerificationGas }
      return chain.sign(limited, name)
    }
    const [first, second] = [await estimated('replica one'), await estimated('replica two')]
    await tell(1)
    expect(await createBundleSizes(database, bundling().definition).of(entryPoint)).toMatchObject({
      current: 1,
      fewest: 1,
    })
    const hash = await bundling().admit(first, chain.entryPoint)
    expect((await bundling().stored(hash)).sharedBy).toBeGreaterThanOrEqual(4)

    await database.deleteFrom('bundle_sizes').execute()
    await bundling().services.sizes.newest(entryPoint)
    await expect(bundling().admit(second, chain.entryPoint)).rejects.toThrow(
      PreVerificationGasTooLowError,
    )
  })
})

test('the bundler stores what it saw: nothing at first, then the size, 1 when traffic ends or it is silent', async () => {
  const { database } = postgres()
  const chainId = 71_001
  const entryPoint: Address = `0x${'77'.repeat(20)}`
  let now = 1_800_000_000_000
  const definition = { chainId, maxBundleWait: 10_000, expectedBundleSize: 'auto' } as const
  const watch = createSizeWatch({ database, definition, now: () => now })
  const blank = { hash: '0x', parentHash: '0x', baseFee: 0n } as const
  const head = () => ({
    ...blank,
    number: BigInt(now / 2_000),
    timestamp: Math.floor(now / 1_000),
  })
  const sizes = createBundleSizes(database, definition)

  for (let minute = 0; minute < 10; minute++) {
    // Twenty operations a second, noted when their bundle is signed.
    const times = Array.from({ length: 1_200 }, (_, place) => new Date(now + place * 50))
    watch.note(entryPoint, times)
    now += 60_000
    await watch.store(head())
    if (minute === 2) expect((await sizes.newest(entryPoint)).most).toBe(1)
  }
  expect(await sizes.newest(entryPoint)).toEqual({ current: 10, fewest: 1, most: 10 })
  now += 40_000
  await watch.store(head())
  expect(await sizes.newest(entryPoint)).toEqual({ current: 1, fewest: 1, most: 10 })

  await database.deleteFrom('bundle_sizes').where('chain_id', '=', BigInt(chainId)).execute()
  await putBundleSize(database, chainId, entryPoint, 7)
  expect(await sizes.newest(entryPoint)).toEqual({ current: 7, fewest: 1, most: 7 })
  await database
    .updateTable('bundle_sizes')
    .set({ decided_at: new Date(Date.now() - 60_000) })
    .where('chain_id', '=', BigInt(chainId))
    .execute()
  expect(await sizes.newest(entryPoint)).toEqual({ current: 1, fewest: 1, most: 7 })
})
