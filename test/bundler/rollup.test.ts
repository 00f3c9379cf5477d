import { pino } from 'pino'
import { type Address, type Hex, hexToBytes, parseEther, parseGwei, parseTransaction } from 'viem'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { PreVerificationGasTooLowError } from '../../src/base/errors/operationErrors.js'
import { assembleBundle } from '../../src/bundler/assemble/assembleBundle.js'
import { readDataFees } from '../../src/bundler/dataFees.js'
import { openBundles } from '../../src/bundler/outbox/bundles.js'
import { getBlock, getTransactionReceipt } from '../../src/chain/nodeReads.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import { dataPriceAt, receiptDataFee } from '../../src/gas/dataPrice.js'
import { createRandom, type Random } from '../evm/random.js'
import {
  type L1Prices,
  type OpStackBundling,
  startOpStackBundling,
} from '../support/chain/opStackChain.js'
import {
  admitEstimated,
  admitTokenPaid,
  type Payer,
  payers,
} from '../support/chain/payingOperations.js'
import { useDatabase } from '../support/database/database.js'
import { type TokenTankChain, tokenTankChain } from '../support/tanks/tokenTankChain.js'
import { VERSIONS } from '../support/world/versionChain.js'

const postgres = useDatabase()

/** L1 prices with which the data fee of a lone operation is a few percent of what it pays. */
const usual = {
  l1BaseFee: parseGwei('400'),
  blobBaseFee: parseGwei('20'),
  operatorScalar: 20_000_000n,
  operatorConstant: 777n,
}
const tripled = timesUsual(3n)
const baseFee = parseGwei('1')
/** Operations of a run: 300 in bundles of 1, 5 and 20. */
const OPERATIONS = 100
const fees = { maxFeePerGas: parseGwei('5'), maxPriorityFeePerGas: parseGwei('1') }

function timesUsual(times: bigint): L1Prices {
  const { l1BaseFee, blobBaseFee } = usual
  return { ...usual, l1BaseFee: l1BaseFee * times, blobBaseFee: blobBaseFee * times }
}

/** One operation of this payer, priced by our own estimate, signed and admitted. */
async function admit(
  bundling: OpStackBundling,
  tank: Address,
  choice: { random: Random; version: Version; payer: Payer },
  prices: L1Prices = usual,
) {
  await setPrices(bundling, prices)
  return admitEstimated(postgres().database, bundling, { ...choice, tank, fees })
}

/** L1's prices at the next head. */
async function setPrices(bundling: OpStackBundling, prices: L1Prices): Promise<void> {
  await bundling.setL1Prices(prices)
  await mineAt(bundling, baseFee)
}

async function statesOf(bundling: OpStackBundling, hashes: readonly Hex[]) {
  return Promise.all(hashes.map(async (hash) => (await bundling.stored(hash)).state))
}

async function mineAt({ tester }: OpStackBundling, baseFeePerGas: bigint): Promise<void> {
  await tester.setNextBlockBaseFeePerGas({ baseFeePerGas })
  await tester.mine({ blocks: 1 })
}

async function bundlesOf({ chainId }: OpStackBundling) {
  return postgres()
    .database.selectFrom('bundles')
    .select(['state', 'cost', 'operation_count', 'transaction_hash'])
    .where('chain_id', '=', BigInt(chainId))
    .orderBy('id')
    .execute()
}

/** wei that the operations of a transaction paid: to the EntryPoint, or as the books charge the operator's account. */
async function paidIn(bundling: OpStackBundling, hash: Hex) {
  const { logs, to, effectiveGasPrice, gasUsed } = await bundling.tester.getTransactionReceipt({
    hash,
  })
  const outcomes = bundling.outcomesOf({ to, logs })
  const charges = outcomes.map(({ actualGasCost, actualGasUsed }) =>
    actualGasCost > 0n ? actualGasCost : actualGasUsed * effectiveGasPrice,
  )
  const earned = outcomes.reduce((sum, { actualGasCost }) => sum + actualGasCost, 0n)
  const paid = charges.reduce((sum, wei) => sum + wei, 0n)
  return { paid, earned, gasCost: gasUsed * effectiveGasPrice, operations: outcomes.length }
}

async function balanceOf({ executors, tester }: OpStackBundling): Promise<bigint> {
  return tester.getBalance({ address: executors[0]!.address })
}

describe.each([1, 5, 20])('on an OP-stack chain, in bundles of %i', (bundleSize) => {
  let bundling: OpStackBundling
  const tanks = new Map<Version, Address>()
  const tokenTanks = new Map<Version, { tokens: TokenTankChain; tank: Address }>()

  beforeAll(async () => {
    bundling = await startOpStackBundling(postgres().database, {
      // The addresses follow from it, and the cost of their bytes.
      chainId: 71_000 + bundleSize,
      expectedBundleSize: bundleSize,
      executorKeys: [devKey(1)],
      rules: 'off',
    })
    for (const version of VERSIONS) {
      tanks.set(version, await bundling.at(version).createTank(0, { wei: parseEther('50') }))
      const tokens = tokenTankChain(bundling.at(version))
      tokenTanks.set(version, { tokens, tank: await tokens.createTokenTank(0, parseEther('50')) })
    }
  })
  afterAll(() => bundling?.stop())

  /** The operations of a bundle of the run, of all payers. */
  const admitBundle = async (random: Random, at: number, prices: L1Prices): Promise<Hex[]> => {
    const version = VERSIONS[at % VERSIONS.length]!
    await bundling.tester.setAutomine(true)
    const hashes: Hex[] = []
    for (let place = 0; place < bundleSize; place++) {
      const payer = [...payers, 'token' as const][(at * bundleSize + place + at) % 5]!
      const { hash } =
        payer === 'token'
          ? await admitTokens(version, random, prices)
          : await admit(bundling, tanks.get(version)!, { random, version, payer }, prices)
      hashes.push(hash)
    }
    await bundling.tester.setAutomine(false)
    return hashes
  }

  const admitTokens = async (version: Version, random: Random, prices: L1Prices) => {
    await setPrices(bundling, prices)
    return admitTokenPaid(bundling, { random, fees, ...tokenTanks.get(version)! })
  }

  /** A bundle goes; from the look at prices to its inclusion L1's price may rise by one step. */
  const include = async (random: Random, hashes: readonly Hex[], prices: L1Prices) => {
    await bundling.round()
    if (random.oneIn(3))
      await bundling.setL1Prices({
        ...prices,
        l1BaseFee: (prices.l1BaseFee * 9n) / 8n,
        blobBaseFee: (prices.blobBaseFee * 9n) / 8n,
      })
    await mineAt(bundling, baseFee)
    await bundling.round()
    expect(await statesOf(bundling, hashes)).toEqual(hashes.map(() => 'included'))
  }

  test('operations pay what they cost, at most 5 % more, the fee triples meanwhile, and the books are the chain to the wei', async () => {
    const random = createRandom(17 + bundleSize)
    const before = await balanceOf(bundling)
    const bundles = OPERATIONS / bundleSize
    const triplesAt = Math.floor(bundles / 2)
    for (let at = 0; at < bundles; at++) {
      const hashes = await admitBundle(random, at, usual)
      if (at === triplesAt) {
        // Those that were priced before wait, those that come now go, and nobody pays for the wait.
        await setPrices(bundling, tripled)
        const waiting = await balanceOf(bundling)
        for (let round = 0; round < 3; round++) {
          await bundling.round()
          await mineAt(bundling, baseFee)
        }
        expect(await balanceOf(bundling)).toBe(waiting)
        await include(random, await admitBundle(random, ++at, tripled), tripled)
        expect(await statesOf(bundling, hashes)).toEqual(hashes.map(() => 'pooled'))
        await setPrices(bundling, usual)
      }
      await include(random, hashes, usual)
    }

    const sums = { paid: 0n, cost: 0n, earned: 0n, data: 0n }
    const sent = await bundlesOf(bundling)
    expect(sent).toHaveLength(bundles)
    for (const { state, cost, operation_count, transaction_hash } of sent) {
      expect([state, operation_count]).toEqual(['included', bundleSize])
      const { paid, earned, gasCost, operations } = await paidIn(bundling, transaction_hash!)
      expect(operations).toBe(bundleSize)
      expect(paid, transaction_hash!).toBeGreaterThanOrEqual(cost!)
      sums.paid += paid
      sums.earned += earned
      sums.cost += cost!
      sums.data += cost! - gasCost
    }
    expect(await balanceOf(bundling)).toBe(before + sums.earned - sums.cost)
    expect(sums.data * 100n).toBeGreaterThan(sums.cost)
    const overcharge = Number(((sums.paid - sums.cost) * 10_000n) / sums.cost) / 100
    const dataShare = Number((sums.data * 10_000n) / sums.cost) / 100
    expect(overcharge, `percent, with ${dataShare} % for data`).toBeLessThanOrEqual(5)
  })
})

describe('on an OP-stack chain whose data fee moves', () => {
  let bundling: OpStackBundling
  let tank: Address
  const random = createRandom(3)

  beforeAll(async () => {
    bundling = await startOpStackBundling(postgres().database, { maxBundleWait: 0, rules: 'off' })
    tank = await bundling.at('0.7').createTank(0, { wei: parseEther('50') })
  })
  afterAll(() => bundling?.stop())

  const admitSigning = async (payer: Payer) => {
    await bundling.tester.setAutomine(true)
    const admitted = await admit(bundling, tank, { random, version: '0.7', payer })
    await bundling.tester.setAutomine(false)
    return admitted
  }
  const admitOne = async (payer: Payer): Promise<Hex> => (await admitSigning(payer)).hash
  const setFee = (times: bigint) => setPrices(bundling, timesUsual(times))
  const states = (hashes: readonly Hex[]) => statesOf(bundling, hashes)
  const roundAndMine = async () => {
    await bundling.round()
    await mineAt(bundling, baseFee)
    await bundling.round()
  }

  test('operations wait while it is three times as high, and go when it falls; nobody is dropped', async () => {
    const hashes = [await admitOne('balance'), await admitOne('tank'), await admitOne('operator')]
    const before = await balanceOf(bundling)
    await setFee(3n)
    for (let round = 0; round < 3; round++) await roundAndMine()
    expect(await states(hashes)).toEqual(['pooled', 'pooled', 'pooled'])
    expect(await balanceOf(bundling)).toBe(before)

    await setFee(1n)
    await roundAndMine()
    expect(await states(hashes)).toEqual(['included', 'included', 'included'])
    const [bundle] = (await bundlesOf(bundling)).slice(-1)
    const { paid, earned } = await paidIn(bundling, bundle!.transaction_hash!)
    expect(paid).toBeGreaterThanOrEqual(bundle!.cost!)
    expect(await balanceOf(bundling)).toBe(before + earned - bundle!.cost!)
  })

  test('an operation that repays it goes, past those that wait', async () => {
    const waiting = await admitOne('balance')
    const { hash: rich, sign } = await admitSigning('balance')
    const { operation } = await bundling.stored(rich)
    await setFee(3n)
    await roundAndMine()
    expect(await states([waiting, rich])).toEqual(['pooled', 'pooled'])
    // The one that now offers a price at which its gas is worth the fee.
    const expensive = { maxFeePerGas: parseGwei('60'), maxPriorityFeePerGas: parseGwei('20') }
    const chain = bundling.at('0.7')
    const raised = await bundling.admit(
      await sign({ ...operation, ...expensive }),
      chain.entryPoint,
    )
    await roundAndMine()
    expect(await states([waiting, raised])).toEqual(['pooled', 'included'])
    await setFee(1n)
    await roundAndMine()
    expect(await states([waiting])).toEqual(['included'])
  })

  test('admission refuses an estimate that the fee has overtaken, with the gas that it takes', async () => {
    const { hash, sign } = await admitSigning('balance')
    const { operation } = await bundling.stored(hash)
    await roundAndMine()
    await setFee(3n)
    // Another nonce sequence, whose first use takes more gas.
    const verificationGasLimit = operation.verificationGasLimit + 50_000n
    const late = { ...operation, nonce: 1n << 64n, verificationGasLimit }
    const chain = bundling.at('0.7')
    const refusal = bundling.admit(await sign(late), chain.entryPoint)
    await expect(refusal).rejects.toThrow(PreVerificationGasTooLowError)
    const { required } = ((await refusal.catch((error: unknown) => error)) as { data: unknown })
      .data as { required: string }
    const enough = { ...late, preVerificationGas: BigInt(required) }
    const again = await bundling.admit(await sign(enough), chain.entryPoint)
    await roundAndMine()
    expect(await states([again])).toEqual(['included'])
    await setFee(1n)
  })

  test("a receipt's own figures are booked; one that differs from ours is an error in the log", async () => {
    await admitOne('tank')
    await roundAndMine()
    const { context } = bundling
    const bundle = (await bundlesOf(bundling)).at(-1)!
    const receipt = (await getTransactionReceipt(context.node, bundle.transaction_hash!))!
    const block = (await getBlock(context.node, receipt.blockNumber))!
    const { gasCost } = await paidIn(bundling, receipt.transactionHash)
    const fee = bundle.cost! - gasCost
    const operatorFee = {
      rule: 'isthmus',
      scalar: usual.operatorScalar,
      constant: usual.operatorConstant,
    } as const
    const l1Fee = fee - receiptDataFee({ gasUsed: receipt.gasUsed, l1Fee: 0n, operatorFee })!
    const logged: object[] = []
    const logger = pino({ level: 'error' }, { write: (line) => logged.push(JSON.parse(line)) })
    const blocks = new Map([[block.number, block]])
    const booked = async (stated: object) =>
      (await readDataFees({ ...context, logger }, [{ ...receipt, ...stated }], blocks)).get(
        receipt.transactionHash,
      )
    expect(await booked({})).toBe(fee)
    expect(await booked({ l1Fee, operatorFee })).toBe(fee)
    expect(logged).toEqual([])
    expect(await booked({ l1Fee: l1Fee + 1n, operatorFee })).toBe(fee + 1n)
    expect(logged).toHaveLength(1)
  })

  test('a pending bundle that the fee overtakes is taken back: its operations wait, and go when it falls', async () => {
    const hashes: Hex[] = []
    for (const payer of ['balance', 'deposit', 'tank', 'operator', 'balance'] as const)
      hashes.push(await admitOne(payer))
    const before = await balanceOf(bundling)
    await bundling.round()
    expect(new Set(await states(hashes))).toEqual(new Set(['bundled']))
    const [pending] = await openBundles(postgres().database, bundling.chainId)
    const [{ hash }] = pending!.attempts
    const raw = await bundling.signedBytes({ hash })
    // The node forgets it; at the next head everything costs L1 twenty times as much.
    await bundling.tester.dropTransaction({ hash })
    await setFee(20n)
    const price = (await dataPriceAt(
      bundling.context.node,
      'opStack',
      await bundling.heads.refresh(),
    ))!
    await roundAndMine()
    await bundling.round()
    expect(await states(hashes)).toEqual(hashes.map(() => 'pooled'))
    const cancelled = (await bundlesOf(bundling)).at(-1)!
    expect(cancelled.state).toBe('cancelled')
    const lost = before - (await balanceOf(bundling))
    expect(lost).toBe(cancelled.cost)

    await setFee(1n)
    await roundAndMine()
    expect(await states(hashes)).toEqual(hashes.map(() => 'included'))
    const included = (await bundlesOf(bundling)).at(-1)!
    const { paid, gasCost } = await paidIn(bundling, included.transaction_hash!)
    const wouldHaveLost = price.feeOf(price.sizeOf(hexToBytes(raw))) - (paid - gasCost)
    expect(lost, `wei, instead of ${wouldHaveLost}`).toBeLessThan(wouldHaveLost / 3n)
  })

  test('an executor keeps more for a pending bundle than its gas: a node would refuse it otherwise', async () => {
    const hash = await admitOne('balance')
    const before = await balanceOf(bundling)
    await bundling.round()
    const { max_cost, raw } = await postgres()
      .database.selectFrom('bundle_transactions as t')
      .innerJoin('operations as o', 'o.bundle_id', 't.bundle_id')
      .select(['t.max_cost', 't.raw'])
      .where('o.hash', '=', hash)
      .executeTakeFirstOrThrow()
    await mineAt(bundling, baseFee)
    await bundling.round()
    const bundle = (await bundlesOf(bundling)).at(-1)!
    const { gasCost, earned } = await paidIn(bundling, bundle.transaction_hash!)
    const { gas, maxFeePerGas } = parseTransaction(raw)
    const charged = bundle.cost! - gasCost
    expect(charged).toBeGreaterThan(0n)
    expect(max_cost).toBeGreaterThanOrEqual(gas! * maxFeePerGas! + charged)
    expect(await balanceOf(bundling)).toBe(before + earned - bundle.cost!)
  })

  test('an operation whose data the executor cannot pay for holds up no other', async () => {
    await setFee(1n)
    const { context, executors, tester } = bundling
    const chain = bundling.at('0.7')
    const { hash, sign } = await admitSigning('balance')
    const { operation } = await bundling.stored(hash)
    await tester.setBalance({ address: operation.sender, value: parseEther('10') })
    const raised = { maxFeePerGas: parseGwei('9'), maxPriorityFeePerGas: parseGwei('3') }
    const large = await bundling.admit(
      await sign({ ...operation, ...raised, callGasLimit: 5_000_000n }),
      chain.entryPoint,
    )
    const [{ address }] = executors as [(typeof executors)[0]]
    const draft = await assembleBundle(context, {
      head: await bundling.heads.refresh(),
      waiting: new Set(),
      open: [],
      executor: address,
      entryPoint: chain.entryPoint,
      funds: parseEther('1'),
    })
    if (typeof draft !== 'object') throw new Error('nothing can be bundled')
    expect([draft.hashes, draft.dataReserve > 1n]).toEqual([[large], true])
    const small = await admitOne('balance')
    const before = await balanceOf(bundling)
    const short = draft.gas * draft.fees.maxFeePerGas + draft.dataReserve - 1n
    await tester.setBalance({ address, value: short })
    await bundling.round()
    expect(await states([large, small])).toEqual(['pooled', 'bundled'])
    await tester.setBalance({ address, value: before })
    await mineAt(bundling, baseFee)
    await roundAndMine()
    expect(await states([large])).toEqual(['included'])
  })
})
