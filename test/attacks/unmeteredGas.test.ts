import { type Address, type Hex, parseEther } from 'viem'
import { describe, expect, test } from 'vitest'
import { PreVerificationGasTooLowError } from '../../src/base/errors/operationErrors.js'
import { unixNow } from '../../src/base/unixNow.js'
import { adviseFees } from '../../src/chain/fees.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { versionFacts } from '../../src/erc4337/versionFacts.js'
import { complete } from '../../src/paymaster/sponsoredDraft.js'
import { encodeTankData } from '../../src/paymaster/tank/tankData.js'
import { stubSignature } from '../../src/gas/placeholder.js'
import { createRandom } from '../evm/random.js'
import {
  blockRange,
  entityOperation,
  placeEntity,
  timeRange,
} from '../support/chain/answeringEntity.js'
import { expectNoLoss } from '../support/chain/executorGains.js'
import { unsetGas } from '../support/operations/unsetGas.js'
import { VERSIONS } from '../support/world/versionChain.js'
import { useWorld } from '../support/world.js'

/*
 * The attacker, or only an honest client, sends operations that prepay not a unit of gas more than they
 * must, at the very tip that a bundle bids. Each makes the EntryPoint do work that it charges to nobody:
 * it checks validity ranges, and gives prefunds back into deposits that were empty. What is not covered
 * is the executor's loss, repeated with every bundle.
 */

const seed = Number(process.env.PURSER_SOLVENCY_SEED ?? 9)
let entities = 0

describe.each([1, 20])('with an expected bundle size of %i', (expectedBundleSize) => {
  const bundling = useWorld({
    definition: {
      expectedBundleSize,
      // Money is what is looked at; ERC-7562 would refuse some of these operations before.
      rules: 'off',
      maxBundleWait: 0,
    },
  })
  /** Numbers of operations that pay for the bundle which they get. */
  const counts = expectedBundleSize === 1 ? [1, 20] : [expectedBundleSize]

  /** Fees with which an operation pays exactly what a bundle bids, at whatever base fee. */
  const fees = async () => {
    const { node, heads } = bundling().at('0.6').engine
    const { standard } = await adviseFees(node, await heads.refresh(), {})
    return { ...standard, maxFeePerGas: standard.maxFeePerGas * 2n }
  }

  /** Admits it with not a unit more of preVerificationGas than it must have. */
  const admitCheapest = async (
    version: Version,
    op: Operation,
    sign: (op: Operation) => Promise<Operation> = async (unsigned) => unsigned,
  ): Promise<Hex> => {
    const { entryPoint } = bundling().at(version)
    let preVerificationGas = 1n
    for (;;) {
      try {
        return await bundling().admit(await sign({ ...op, preVerificationGas }), entryPoint)
      } catch (error) {
        if (!(error instanceof PreVerificationGasTooLowError)) throw error
        preVerificationGas = BigInt((error.data as { required: string }).required)
      }
    }
  }

  /** Bundles what `admit` took in; the executor must lose nothing. */
  const expectPaid = async (admit: () => Promise<readonly Hex[]>): Promise<void> => {
    const hashes = await admit()
    const from = await bundling().tester.getBlockNumber()
    await bundling().settle()
    for (const hash of hashes) expect((await bundling().stored(hash)).state).toBe('included')
    await expectNoLoss(
      bundling().tester,
      bundling().executors.map(({ address }) => address),
      from,
    )
  }

  describe.each(VERSIONS)('EntryPoint v%s', (version) => {
    /** A paymaster that answers with `validationData`, and has a deposit. */
    const paymasterWith = async (validationData: bigint): Promise<Address> => {
      const chain = bundling().at(version)
      const paymaster = await placeEntity(chain, ++entities, { validationData })
      await chain.deposit(paymaster, parseEther('1'))
      return paymaster
    }
    const paymasterGas = versionFacts[version].hasPaymasterLimits
      ? { paymasterVerificationGasLimit: 60_000n }
      : {}

    test.each(counts)('%i transfers that their senders pay cost nobody else', (count) =>
      expectPaid(async () => {
        const hashes: Hex[] = []
        for (let left = count; left > 0; left--) {
          const sender = await placeEntity(bundling().at(version), ++entities)
          const op = { ...entityOperation(sender, '0xffffffff'), callGasLimit: 1_000n }
          hashes.push(await admitCheapest(version, { ...op, ...(await fees()) }))
        }
        return hashes
      }),
    )

    test.each(counts)(
      '%i operations with ranges of account and paymaster cost nobody else',
      (count) =>
        expectPaid(async () => {
          const range = version === '0.9' ? blockRange : timeRange
          const paymaster = await paymasterWith(range)
          const hashes: Hex[] = []
          for (let left = count; left > 0; left--) {
            const sender = await placeEntity(bundling().at(version), ++entities, {
              validationData: range,
            })
            const op = entityOperation(sender, '0xffffffff', paymaster)
            hashes.push(await admitCheapest(version, { ...op, ...paymasterGas, ...(await fees()) }))
          }
          return hashes
        }),
    )

    test.each(counts)(
      '%i operations that a tank of ours sponsors cost nobody else',
      async (count) => {
        const chain = bundling().at(version)
        const tank = await chain.createTank(count)
        const range = { validAfter: 0, validUntil: unixNow() + 86_400 }
        await expectPaid(async () => {
          const hashes: Hex[] = []
          for (let left = count; left > 0; left--) {
            const name = `sponsored ${expectedBundleSize} ${version} ${count} ${left}`
            const draft = {
              ...(await chain.draft('deployed', name, { to: chain.target, value: 0n })),
              ...unsetGas,
              ...(await fees()),
              paymaster: tank,
              paymasterData: encodeTankData(range, stubSignature),
            }
            const op = complete(draft, await bundling().estimate(chain.entryPoint, draft))
            const sign = async (priced: Operation) =>
              chain.sign(await chain.sponsor(priced, tank, range), name)
            hashes.push(await admitCheapest(version, op, sign))
          }
          return hashes
        })
      },
    )

    test(`any mix of them costs nobody else (seed ${seed})`, () =>
      expectPaid(async () => {
        const random = createRandom(seed + expectedBundleSize)
        const ranges = [0n, timeRange, version === '0.9' ? blockRange : timeRange]
        const sponsors: Address[] = []
        for (const range of ranges) sponsors.push(await paymasterWith(range))
        const hashes: Hex[] = []
        for (let left = 20; left > 0; left--) {
          const sender = await placeEntity(bundling().at(version), ++entities, {
            validationData: random.pick(ranges),
          })
          const paymaster = random.oneIn(2) ? random.pick(sponsors) : undefined
          const callData: Hex = `0xffffffff${'00'.repeat(random.below(2_000))}`
          const op = {
            ...entityOperation(sender, callData, paymaster),
            ...(paymaster && paymasterGas),
            callGasLimit: BigInt(12_000 + random.below(30_000)),
          }
          hashes.push(await admitCheapest(version, { ...op, ...(await fees()) }))
        }
        return hashes
      }))
  })
})
