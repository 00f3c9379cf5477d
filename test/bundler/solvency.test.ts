import { type Address, type Hex, numberToHex, parseEther, parseGwei, size } from 'viem'
import { beforeAll, describe, expect, test } from 'vitest'
import { PreVerificationGasTooLowError } from '../../src/base/errors/operationErrors.js'
import { devKey } from '../../src/cli/devnet/devKeys.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { createRandom, type Random } from '../evm/random.js'
import { executingDraft, signExecuting } from '../support/chain/executingAccount.js'
import { type SenderKind, senderKinds, VERSIONS } from '../support/world/versionChain.js'
import { useWorld } from '../support/world.js'

const seed = Number(process.env.PURSER_SOLVENCY_SEED ?? 7)
const rounds = process.env.PURSER_FAULTS === 'full' ? 60 : 10

/** An operation before it is priced, and how its parties sign it. */
type Prepared = { readonly version: Version; readonly op: Operation; sign: Sign }
type Sign = (op: Operation) => Promise<Operation>

describe.each([1, 3])('with an expected bundle size of %i', (expectedBundleSize) => {
  const bundling = useWorld({
    definition: {
      expectedBundleSize,
      // Money is what is looked at; ERC-7562 would refuse some of these operations before.
      rules: 'off',
      executorKeys: [devKey(1), devKey(2)],
    },
  })
  const tanks = new Map<Version, Address>()
  const seen = { included: 0, failed: 0, shared: 0, dropped: 0, delegating: 0, floor: 0 }

  beforeAll(async () => {
    for (const version of VERSIONS) {
      tanks.set(
        version,
        await bundling()
          .at(version)
          .createTank(0, { wei: parseEther('50') }),
      )
    }
  })

  const callOf = (random: Random, version: Version) => {
    const { onTarget, target } = bundling().at(version)
    const from = BigInt(random.below(1_000))
    return random.pick([
      () => onTarget('write', from, BigInt(random.below(4))),
      () => onTarget('write', 0n, 1n),
      () => onTarget('toggle', from),
      () => onTarget('fail', 'as it wants'),
      () => onTarget('failLong', 3_000n),
      () => onTarget('burnAll'),
      () => ({ to: target, data: `0x${'5a'.repeat(500 + random.below(2_500))}` as Hex }),
      () => ({ to: target, data: numberToHex(random.below(2 ** 30), { size: 1_000 }) }),
      () => ({ to: target, data: `0x${'5a'.repeat(4_000 + random.below(8_000))}` as Hex }),
      () => ({ to: target, data: `0x${'5a'.repeat(12_000)}` as Hex }),
    ])()
  }

  const prepare = async (
    random: Random,
    version: Version,
    name: string,
    baseFee: bigint,
  ): Promise<Prepared> => {
    const chain = bundling().at(version)
    const call = callOf(random, version)
    const kinds: (SenderKind | 'executing')[] = [...senderKinds(version)]
    if (version !== '0.6') kinds.push('executing')
    const picked = random.pick(kinds)
    // An operation with an authorization has at most 8,192 bytes.
    const isLarge = size(call.data ?? '0x') > 6_000
    const kind = picked === 'delegated' && isLarge ? 'deployed' : picked
    const drafted =
      kind === 'executing'
        ? await executingDraft(chain, name, call)
        : await chain.draft(kind, name, call)
    const isSponsored = random.oneIn(2)
    if (!isSponsored) await chain.fund(drafted.sender)
    if (!isSponsored && random.oneIn(3)) await chain.deposit(drafted.sender, parseEther('0.1'))
    const maxPriorityFeePerGas = parseGwei('1') + BigInt(random.below(2_000_000_000))
    const op: Operation = {
      ...drafted,
      nonce: BigInt(1 + random.below(3)) << 64n,
      callGasLimit: random.pick([60_000n, 120_000n, 500_000n]),
      verificationGasLimit: random.pick([450_000n, 900_000n]),
      maxPriorityFeePerGas,
      maxFeePerGas: random.oneIn(4)
        ? maxPriorityFeePerGas + baseFee
        : maxPriorityFeePerGas + baseFee * BigInt(2 + random.below(3)),
    }
    const own: Sign = (op) =>
      kind === 'executing' ? signExecuting(chain, op, name) : chain.sign(op, name)
    const tank = tanks.get(version)!
    const sign: Sign = async (op) => own(isSponsored ? await chain.sponsor(op, tank) : op)
    return { version, op, sign }
  }

  /** Admits it with not a unit more of preVerificationGas than it must have. */
  const admitCheapest = async ({ version, op, sign }: Prepared): Promise<Hex> => {
    let preVerificationGas = 1n
    for (;;) {
      const signed = await sign({ ...op, preVerificationGas })
      try {
        return await bundling().admit(signed, bundling().at(version).entryPoint)
      } catch (error) {
        if (!(error instanceof PreVerificationGasTooLowError)) throw error
        preVerificationGas = BigInt((error.data as { required: string }).required)
      }
    }
  }

  const balances = () =>
    Promise.all(bundling().executors.map(({ address }) => bundling().balanceOf(address)))

  const setBaseFee = (baseFee: bigint) =>
    bundling().tester.setNextBlockBaseFeePerGas({ baseFeePerGas: baseFee })

  /** Mines the next block, in which no executor may lose a wei. */
  const mineAt = async (baseFee: bigint): Promise<void> => {
    const before = await balances()
    await setBaseFee(baseFee)
    await bundling().tester.mine({ blocks: 1 })
    const after = await balances()
    for (const [at, wei] of after.entries()) {
      expect(wei, `base fee ${baseFee}`).toBeGreaterThanOrEqual(before[at]!)
    }
  }

  /** Every transaction of ours brought in what it cost; returns what its executor gained, in wei. */
  const gainOf = async (hash: Hex): Promise<bigint> => {
    const receipt = await bundling().tester.getTransactionReceipt({ hash })
    const { gasUsed, effectiveGasPrice, status, type } = receipt
    expect(status).toBe('success')
    const outcomes = bundling().outcomesOf(receipt)
    const earned = outcomes.reduce((sum, { actualGasCost }) => sum + actualGasCost, 0n)
    expect(earned, hash).toBeGreaterThanOrEqual(gasUsed * effectiveGasPrice)
    seen.included += outcomes.length
    seen.failed += outcomes.filter(({ success }) => !success).length
    if (outcomes.length > 1) seen.shared += 1
    if (type === 'eip7702') seen.delegating += 1
    if (await isAtFloor(hash, gasUsed)) seen.floor += 1
    return earned - gasUsed * effectiveGasPrice
  }

  const isAtFloor = async (hash: Hex, gasUsed: bigint): Promise<boolean> => {
    const { input } = await bundling().tester.getTransaction({ hash })
    const bytes = Buffer.from(input.slice(2), 'hex')
    const tokens = bytes.reduce((sum, byte) => sum + (byte === 0 ? 1 : 4), 0)
    return gasUsed === BigInt(21_000 + 10 * tokens)
  }

  test(`the operator is never short by a wei (seed ${seed})`, { timeout: 600_000 }, async () => {
    const random = createRandom(seed + expectedBundleSize)
    const begun = await balances()
    for (let number = 0; number < rounds; number++) {
      await bundling().tester.setAutomine(true)
      const baseFee = parseGwei(String(1 + random.below(20)))
      const prepared: Prepared[] = []
      for (const version of [random.pick(VERSIONS), random.pick(VERSIONS)]) {
        for (let left = 1 + random.below(4); left > 0; left--) {
          const name = `${expectedBundleSize} ${number} ${version} ${left} ${prepared.length}`
          prepared.push(await prepare(random, version, name, baseFee))
        }
      }
      await setBaseFee(baseFee)
      await bundling().tester.mine({ blocks: 1 })
      await bundling().tester.setAutomine(false)
      for (const each of prepared) await admitCheapest(each)
      const maxBundleWait = random.pick([0, 3_600_000])
      await bundling().roundAs({ maxBundleWait })
      await bundling().roundAs({ maxBundleWait, resubmitAfter: random.pick([0, 3_600_000]) })
      await mineAt((baseFee * BigInt(1 + random.below(24))) / 10n)
      await bundling().roundAs({ maxBundleWait })
      await mineAt(1n + BigInt(random.below(1_000)))
      await bundling().round()
    }
    // What still waits for company goes or is dropped now.
    for (let left = 6; left > 0; left--) {
      await bundling().roundAs({ maxBundleWait: 0 })
      await mineAt(parseGwei('1'))
    }
    await bundling().round()
    expect(await bundling().openBundles()).toEqual([])
    const bundles = await bundling()
      .database.selectFrom('bundles')
      .select(['executor', 'state', 'transaction_hash'])
      .where('chain_id', '=', BigInt(bundling().chainId))
      .execute()
    expect(bundles.map(({ state }) => state)).toEqual(bundles.map(() => 'included'))
    const gained = new Map(bundling().executors.map(({ address }) => [address, 0n]))
    for (const { executor, transaction_hash: hash } of bundles) {
      gained.set(executor, gained.get(executor)! + (await gainOf(hash!)))
    }
    const ended = await balances()
    expect(ended.map((wei, at) => wei - begun[at]!)).toEqual([...gained.values()])

    const rows = await bundling()
      .database.selectFrom('operations')
      .select(['state', 'reason_code'])
      .where('chain_id', '=', BigInt(bundling().chainId))
      .execute()
    seen.dropped = rows.filter(({ state }) => state === 'dropped').length
    for (const { state, reason_code } of rows) {
      if (state !== 'included')
        expect([state, reason_code]).toEqual(['dropped', 'BUNDLE_NOT_SHARED'])
    }
    if (expectedBundleSize === 1) expect(seen.dropped).toBe(0)
    expect(seen.included).toBe(rows.length - seen.dropped)
    for (const [what, count] of Object.entries(seen)) {
      if (what !== 'dropped') expect(count, what).toBeGreaterThan(0)
    }
  })
})
