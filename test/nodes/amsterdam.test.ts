import { type Address, type Hex, parseEther, parseGwei } from 'viem'
import { expect, test } from 'vitest'
import { greatest } from '../../src/base/bigints.js'
import { detectChainRules } from '../../src/chain/chainRules.js'
import type { FeeAdvice } from '../../src/chain/fees.js'
import type { Database } from '../../src/db/database.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import type { Fees } from '../../src/erc4337/fees.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { insertTank } from '../../src/paymaster/ledger/tanks.js'
import { defaultTerms } from '../../src/paymaster/sponsorshipTerms.js'
import { countDisagreements } from '../../src/records/books.js'
import { createRandom } from '../evm/random.js'
import { admitEstimated, admitTokenPaid, payers } from '../support/chain/payingOperations.js'
import { gethBinary } from '../support/nodes/startGeth.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { RUNS_IN_FULL } from '../support/runs.js'
import { tokenTankChain } from '../support/tanks/tokenTankChain.js'
import { until } from '../support/until.js'
import { lower, VERSIONS } from '../support/world/versionChain.js'
import { useWorld } from '../support/world.js'

/*
 * A chain that changes over to Amsterdam while the service runs: operations of every version and payer before it,
 * across it and after it. `npm run test:nodes -- amsterdam` runs 10,000 of them, or PURSER_OPERATIONS.
 */

const SEED = Number(process.env.PURSER_SEED ?? 7928)
/** Operations at least; half of them before the fork, as far as there is time. */
const OPERATIONS = RUNS_IN_FULL ? Number(process.env.PURSER_OPERATIONS ?? 10_000) : 60
/** Seconds of chain time, more than a round needs blocks. */
const LAST_ROUND = 120
/** wei in the EntryPoint of each tank */
const DEPOSIT = parseEther('50')
const fees = { maxFeePerGas: parseGwei('5'), maxPriorityFeePerGas: parseGwei('1') }
/** Fees for sponsored operations: as advised, and where that is almost nothing what tanks allow. */
const allowed = ({ fast }: FeeAdvice): Fees => ({
  maxFeePerGas: greatest(fast.maxFeePerGas, defaultTerms.feeFloor),
  maxPriorityFeePerGas: greatest(fast.maxPriorityFeePerGas, defaultTerms.feeFloor / 2n),
})
const binary = gethBinary()

const bundling =
  binary === undefined
    ? undefined
    : useWorld({ definition: { rules: 'full', expectedBundleSize: 1 }, kind: 'amsterdam' })

// What runs it says where there is no geth.
test.skipIf(bundling === undefined)(
  'operations cross the fork: none is lost, no bundle loses, and our gas is that of the node',
  { timeout: 400_000 + OPERATIONS * 3_000 },
  async () => {
    const world = bundling!()
    const { node, heads, engine } = world.chain
    const random = createRandom(SEED)
    const tanks = new Map<Version, Address>()
    for (const version of VERSIONS)
      tanks.set(version, await world.at(version).createTank(0, { wei: DEPOSIT }))
    const ownEntryPoint = (wanted: Version) =>
      world.context.entryPoints.find(({ version }) => version === wanted)!
    const executor = world.executors[0]!.address
    const bundles = () =>
      world.database
        .selectFrom('bundles')
        .select(['kind', 'state', 'cost', 'transaction_hash'])
        .where('chain_id', '=', BigInt(world.chainId))
        .orderBy('id')
        .execute()

    const tokenPaid = new Map<Version, Omit<Parameters<typeof admitTokenPaid>[1], 'random'>>()
    for (const version of VERSIONS) {
      const tokens = tokenTankChain(world.at(version))
      const tank = await tokens.createTokenTank(1, parseEther('50'))
      const prices = ownEntryPoint(version)
      await insertTank(world.database, {
        app_id: world.appId,
        chain_id: BigInt(world.chainId),
        entry_point: prices.address,
        kind: 'token',
        address: tank,
        owner: tank,
        signer: tank,
        signer_key: Buffer.from('not used'),
      })
      const user = await tokens.deployUser(tokens.tokens[0]!.address)
      tokenPaid.set(version, { tokens, tank, user, prices, fees })
    }

    /** The tanks that the service knows, and signs for. */
    const own = new Map<Version, Address>()
    for (const version of VERSIONS) {
      const { address } = await world.makeTank(world.appId, DEPOSIT, ownEntryPoint(version))
      own.set(version, address)
    }
    /** Sponsored by the service, so that its ledger reserves and settles it. */
    const admitSponsored = async (version: Version): Promise<Hex> => {
      const chain = world.at(version)
      const name = `sponsored ${sent.length}`
      const kind = random.pick(['deployed', 'counterfactual'] as const)
      const draft = {
        ...(await chain.draft(kind, name)),
        ...unsetGas,
        ...allowed(await world.services.fees(world.appId)),
      }
      const entryPoint = ownEntryPoint(version)
      const { decision, operation } = await world.sponsor(
        world.request(world.appId, draft, { entryPoint }),
      )
      expect(decision.code).toBe('SPONSORED')
      return world.admit(await chain.sign(operation as Operation, name), entryPoint)
    }
    /** A plain key that becomes an account. */
    const admitDelegated = async (version: Version, name: string): Promise<Hex> => {
      const chain = world.at(version)
      const drafted = { ...(await chain.draft('delegated', name)), ...fees }
      await chain.deposit(drafted.sender, parseEther('0.1'))
      const gas = await world.estimate(chain.entryPoint, drafted)
      const { callGasLimit, verificationGasLimit, preVerificationGas } = gas
      const limits = { callGasLimit, verificationGasLimit, preVerificationGas }
      return world.admit(await chain.sign({ ...drafted, ...limits }, name), chain.entryPoint)
    }
    const sent: Hex[] = []
    /**
     * EIP-8037: an operation fills a slot, the next frees it, and a third fills another one, from state gas that was given
     * back. They are in this order in one bundle.
     */
    const admitPassedSlots = async (version: Version): Promise<readonly Hex[]> => {
      const chain = world.at(version)
      const passed: Hex[] = []
      for (const slot of [9_000n, 9_000n, 9_001n]) {
        const name = `passes ${version} ${passed.length}`
        const maxPriorityFeePerGas = parseGwei('4') - BigInt(passed.length) * parseGwei('1')
        const draft = await chain.draft('deployed', name, chain.onTarget('toggle', slot))
        const drafted = { ...draft, maxFeePerGas: fees.maxFeePerGas, maxPriorityFeePerGas }
        await chain.deposit(drafted.sender, parseEther('0.1'))
        const gas = await world.estimate(chain.entryPoint, drafted)
        const { callGasLimit, verificationGasLimit, preVerificationGas } = gas
        const limits = { callGasLimit, verificationGasLimit, preVerificationGas }
        const signed = await chain.sign({ ...drafted, ...limits }, name)
        passed.push(await world.admit(signed, chain.entryPoint))
      }
      return passed
    }
    /** Those that pay nothing: the operator has granted their gas. */
    const granted = new Set<Hex>()
    /** One operation of each version and payer, and of fresh keys, in the pool at once. */
    const admitRound = async (isLast = false): Promise<void> => {
      for (const version of VERSIONS) {
        for (const payer of payers) {
          const prices = ownEntryPoint(version)
          const choice = { random, version, payer, tank: tanks.get(version)!, fees, prices }
          const { hash } = await admitEstimated(world.database, world, choice)
          sent.push(hash)
          if (payer === 'operator') granted.add(hash)
        }
        const { hash } = await admitTokenPaid(world, { random, ...tokenPaid.get(version)! })
        sent.push(hash)
        // What a tank signs before the fork ends with it.
        if (!isLast) sent.push(await admitSponsored(version))
        const isDelegating = version >= '0.8'
        if (isDelegating) sent.push(await admitDelegated(version, `key ${sent.length}`))
      }
    }
    const first = await node.head()
    const before = await detectChainRules(node, first.hash)
    expect(before).toMatchObject({ fork: 'osaka', next: { fork: 'amsterdam' } })
    const { activation } = before!.next!
    expect(engine.forks()).toEqual(['osaka', 'amsterdam'])
    expect(engine.coming()).toEqual({ fork: 'amsterdam', activation })
    const wealth = await world.balanceOf(executor)
    const known = (await bundles()).length

    let gain = 0n
    /** wei that went back to tanks of the app, which had paid more than their share of a bundle. */
    let returned = 0n
    /** The most operations in a bundle, before the fork and behind it. */
    const most = [0, 0]
    let checked = known
    /** Compares the bundles since the last look with the chain, whose node forgets its older states. */
    const checkBundles = async (): Promise<void> => {
      for (const { kind, state, cost, ...bundle } of (await bundles()).slice(checked)) {
        expect(state).toBe('included')
        checked++
        const hash = bundle.transaction_hash
        const receipt = await world.tester.getTransactionReceipt({ hash: hash! })
        const transaction = await world.tester.getTransaction({ hash: hash! })
        if (kind === 'return') {
          returned += transaction.value
          gain -= transaction.value + cost!
          continue
        }
        const { timestamp } = await world.tester.getBlock({ blockNumber: receipt.blockNumber })
        expect(receipt.status).toBe('success')
        expect(cost).toBe(receipt.gasUsed * receipt.effectiveGasPrice)
        const entryPoint = world.context.entryPoints.find(
          ({ address }) => address === lower(receipt.to!),
        )!
        const logs = receipt.logs.map((log) => ({ ...log, address: lower(log.address) }))
        const outcomes = entryPoint.decodeOutcomes(logs)
        const side = Number(timestamp) >= activation ? 1 : 0
        most[side] = Math.max(most[side]!, outcomes.length)
        const earned = outcomes.reduce((sum, { actualGasCost }) => sum + actualGasCost, 0n)
        const given = outcomes
          .filter(({ userOpHash }) => granted.has(userOpHash))
          .reduce((sum, { actualGasUsed }) => sum + actualGasUsed * receipt.effectiveGasPrice, 0n)
        expect(earned + given, `gain of ${hash}`).toBeGreaterThanOrEqual(cost!)
        gain += earned - cost!
        const authorizations = (transaction.authorizationList ?? []).map((each) => ({
          chainId: BigInt(each.chainId),
          address: lower(each.address),
          nonce: BigInt(each.nonce),
          yParity: Number(each.yParity),
          r: BigInt(each.r),
          s: BigInt(each.s),
        }))
        const { gasUsed } = await engine.replay(entryPoint, receipt.blockHash, {
          from: lower(transaction.from),
          data: transaction.input,
          gas: Number(transaction.gas),
          gasPrice: receipt.effectiveGasPrice,
          authorizations,
        })
        expect(BigInt(gasUsed), `gas of ${hash}`).toBe(receipt.gasUsed)
      }
    }
    let settled = 0
    const bundleAll = async (): Promise<void> => {
      await until(async () => {
        await world.round()
        await world.settle()
        const waiting = sent.slice(settled)
        const states = await Promise.all(
          waiting.map(async (hash) => (await world.stored(hash)).state),
        )
        return states.every((state) => state !== 'pooled' && state !== 'bundled')
      }, 120_000)
      settled = sent.length
      await checkBundles()
    }

    // Blocks are at least a second apart, so each transaction brings the fork nearer.
    const timeLeft = async () => activation - (await node.head()).timestamp
    expect(await timeLeft(), 'the machine was too slow for this test').toBeGreaterThan(0)
    do {
      await admitRound()
      if ((await timeLeft()) > 0) await bundleAll()
    } while ((await timeLeft()) > LAST_ROUND && sent.length < OPERATIONS / 2)
    expect(settled).toBeGreaterThan(0)
    // The last ones are admitted before it and included behind it.
    if (settled === sent.length) await admitRound(true)
    expect(await timeLeft(), 'a round takes more blocks than LAST_ROUND').toBeGreaterThan(0)
    await until(async () => {
      await world.tester.mine({ blocks: 1 })
      return (await heads.refresh()).timestamp >= activation
    }, 200_000)
    await until(async () => engine.forks().join() === 'amsterdam')
    expect(engine.trouble()).toBeUndefined()
    await bundleAll()
    for (const version of VERSIONS) {
      const passed = await admitPassedSlots(version)
      sent.push(...passed)
      // The gain of each bundle is checked as of all others.
      await bundleAll()
      const receipts = await Promise.all(passed.map((hash) => world.receipt(hash)))
      expect(receipts.map(({ success }) => success)).toEqual([true, true, true])
      expect(new Set(receipts.map(({ receipt }) => receipt.transactionHash)).size).toBe(1)
    }
    do {
      await admitRound()
      await bundleAll()
    } while (sent.length < OPERATIONS)

    for (const hash of sent) expect((await world.stored(hash)).state, hash).toBe('included')
    for (const operations of most) expect(operations).toBeGreaterThan(2)
    expect(await world.balanceOf(executor)).toBe(wealth + gain)
    // The ledger, the inclusions and the deposits on the chain are the same to the wei.
    expect(await countDisagreements(world.database)).toEqual({
      charged: 0n,
      credited: 0n,
      locked: 0n,
    })
    const paid = await paidBy(world.database, world.chainId)
    let lacking = returned
    for (const [version, address] of own) {
      lacking += DEPOSIT - (await world.at(version).depositOf(address)) - paid.get(address)!
      expect(paid.get(address)).toBeGreaterThan(0n)
    }
    expect(lacking, 'wei of deposits that no book has').toBe(0n)
    for (const [version, address] of tanks)
      expect(await world.at(version).depositOf(address)).toBe(DEPOSIT - (paid.get(address) ?? 0n))
  },
)

/** wei that operations cost each paymaster, by the records. */
async function paidBy(database: Database, chainId: number): Promise<ReadonlyMap<Address, bigint>> {
  const rows = await database
    .selectFrom('inclusions')
    .select(['paymaster', ({ fn }) => fn.sum<string>('actual_gas_cost').as('paid')])
    .where('chain_id', '=', BigInt(chainId))
    .groupBy('paymaster')
    .execute()
  return new Map(rows.map(({ paymaster, paid }) => [paymaster, BigInt(paid)]))
}
