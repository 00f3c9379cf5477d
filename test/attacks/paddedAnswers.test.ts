import { type Address, encodeFunctionData, type Hex, parseAbi, parseEther } from 'viem'
import { describe, expect, test } from 'vitest'
import { PreVerificationGasTooLowError } from '../../src/base/errors/operationErrors.js'
import { adviseFees } from '../../src/chain/fees.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { versionFacts } from '../../src/erc4337/versionFacts.js'
import { create2Address, fromHex } from '../../src/evm/index.js'
import { openBundles } from '../../src/bundler/outbox/bundles.js'
import { setReputations } from '../../src/mempool/pool/reputations.js'
import { entityOperation, placeEntity } from '../support/chain/answeringEntity.js'
import { expectNoLoss } from '../support/chain/executorGains.js'
import { VERSIONS } from '../support/world/versionChain.js'
import { useWorld } from '../support/world.js'

/*
 * A contract returns more than it is asked for. What an EntryPoint copies of it into the memory of handleOps makes each word that it
 * copies later more expensive, and nobody is charged for that: v0.6 and v0.7 copy the answer of a paymaster's validation.
 */

const PADDING = 350_000
let entities = 0

/** The code that the factory places: it answers 0 to everything. */
const idleAccount = '0x665f5f5260205ff3600052600760 19f3'.replace(' ', '') as Hex

describe.each(VERSIONS)('EntryPoint v%s', (version: Version) => {
  const bundling = useWorld({ definition: { rules: 'off', maxBundleWait: 0 }, losesWei: true })
  const traced = useWorld({
    definition: { rules: 'partial', validationEngine: 'node', maxBundleWait: 0 },
  })

  /** With limits for copies of memory, and call data of 40 kB. */
  const operationOf = (sender: Address, paymaster?: Address): Operation => {
    const op = entityOperation(sender, `0x${'ff'.repeat(40_000)}`, paymaster)
    const hasOwn = paymaster !== undefined && versionFacts[version].hasPaymasterLimits
    return {
      ...op,
      verificationGasLimit: 1_500_000n,
      ...(hasOwn && {
        paymasterVerificationGasLimit: 1_500_000n,
        paymasterPostOpGasLimit: 600_000n,
      }),
      callGasLimit: 600_000n,
    }
  }

  const admitCheapest = async (
    world: typeof bundling,
    op: Operation,
    preVerificationGas = 700_000n,
  ): Promise<Hex> => {
    const { node, heads } = world().at(version).engine
    const { standard } = await adviseFees(node, await heads.refresh(), {})
    const fees = { ...standard, maxFeePerGas: standard.maxFeePerGas * 2n }
    const { entryPoint } = world().at(version)
    try {
      return await world().admit({ ...op, ...fees, preVerificationGas }, entryPoint)
    } catch (error) {
      if (!(error instanceof PreVerificationGasTooLowError)) throw error
      const { required } = error.data as { required: string }
      return admitCheapest(world, op, BigInt(required))
    }
  }

  const placePaymaster = async (
    world: typeof bundling,
    padding: number,
    contextSize = 0,
    idles = false,
  ) => {
    const chain = world().at(version)
    const paymaster = await placeEntity(chain, ++entities, { padding, contextSize, idles })
    await chain.deposit(paymaster, parseEther('1'))
    return paymaster
  }

  const engines = [
    ['in our EVM', bundling],
    ['by traces of the node', traced],
  ] as const
  test.each(engines)("a paymaster's answer behind its context is refused %s", async (_, world) => {
    for (const [padding, contextSize] of [
      [PADDING, 0],
      [32, 0],
      [32, 33],
    ] as const) {
      // Entities that use up their gas take the tracer in JavaScript five seconds an operation.
      const sender = await placeEntity(world().at(version), ++entities, { idles: true })
      const op = operationOf(sender, await placePaymaster(world, padding, contextSize, true))
      await expect(admitCheapest(world, op)).rejects.toThrow(
        // An unstaked paymaster may have no context at all.
        contextSize > 0 && world === traced ? /AA33|EREP-050/ : /AA33/,
      )
    }
  })

  test('nor is it estimated', async () => {
    const chain = bundling().at(version)
    const op = operationOf(await placeEntity(chain, ++entities), await placePaymaster(bundling, 64))
    await expect(bundling().estimate(chain.entryPoint, op)).rejects.toThrow(/AA33/)
  })

  test('one that comes later than admission is left out of bundles', async () => {
    const world = traced
    const chain = world().at(version)
    const paymaster = await placePaymaster(world, 0)
    await chain.tester.impersonateAccount({ address: paymaster })
    const stake = parseAbi(['function addStake(uint32)'])
    await world().anvil.send({
      from: paymaster,
      to: chain.entryPoint.address,
      data: encodeFunctionData({ abi: stake, args: [86_400] }),
      value: '0x10',
    })
    const op = operationOf(await placeEntity(chain, ++entities, { idles: true }), paymaster)
    const hash = await admitCheapest(world, op)
    const abi = parseAbi(['function set(uint256, uint256, uint256, bool)'])
    const args = [0n, 0n, BigInt(PADDING), false] as const
    await chain.transact(paymaster, encodeFunctionData({ abi, args }))
    await world().settle()
    expect(await world().stored(hash)).toMatchObject({ state: 'dropped', reasonCode: 'AA33' })
  })

  test('a context larger than those of a whole bundle may be keeps no other operation back', async () => {
    const chain = bundling().at(version)
    const paymaster = await placePaymaster(bundling, 0, 65_537)
    const large = operationOf(await placeEntity(chain, ++entities), paymaster)
    const hashes = [await admitCheapest(bundling, { ...large, callData: '0xffffffff' })]
    hashes.push(await admitCheapest(bundling, operationOf(await placeEntity(chain, ++entities))))
    await bundling().settle()
    for (const hash of hashes) expect(await bundling().stateOf(hash)).toBe('included')
  })

  const setPadding = (paymaster: Address, padding: number) => {
    const abi = parseAbi(['function set(uint256, uint256, uint256, bool)'])
    const args = [0n, 0n, BigInt(padding), false] as const
    return bundling().at(version).transact(paymaster, encodeFunctionData({ abi, args }))
  }
  /** Bundles what is pooled; the paymaster begins to pad its answers before the bundle is mined. */
  const settlePadded = async (paymaster: Address): Promise<void> => {
    const { database, chainId, tester } = bundling()
    await bundling().setAutomine(false)
    await bundling().round()
    const [bundle] = await openBundles(database, chainId)
    await tester.dropTransaction({ hash: bundle!.attempts[0].hash })
    await bundling().setAutomine(true)
    await setPadding(paymaster, 500_000)
    await bundling().settle()
  }
  /** An operation whose validation uses so much gas that the floor of calldata does not bind. */
  const spendingOperation = async (paymaster?: Address): Promise<Operation> => {
    const sender = await placeEntity(bundling().at(version), ++entities, { padding: 600_000 })
    const op = operationOf(sender, paymaster)
    const limits =
      paymaster && version >= '0.7' ? { paymasterVerificationGasLimit: 2_500_000n } : {}
    // Gas that no postOp uses would be charged in part.
    const bytes = { callData: `0x${'ff'.repeat(30_000)}`, paymasterPostOpGasLimit: 0n } as const
    return { ...op, ...bytes, ...limits, verificationGasLimit: 3_000_000n }
  }
  const smallOperation = async (): Promise<Operation> => {
    const op = operationOf(await placeEntity(bundling().at(version), ++entities))
    return { ...op, callData: '0xffffffff', callGasLimit: 1_000n }
  }
  const admitNext = (op: Operation) => admitCheapest(bundling, { ...op, nonce: op.nonce * 2n })
  const resting = { code: -32504, rule: 'GREP-020' }

  test.runIf(version < '0.8')(
    'of a bundle that loses wei the senders that cause it are paused, and after three of them their paymaster',
    async () => {
      const { database, chainId } = bundling()
      const { address: entryPoint } = bundling().at(version).entryPoint
      const paymaster = await placePaymaster(bundling, 0)
      for (const isAlone of [true, false, false]) {
        await setPadding(paymaster, 0)
        const culprit = await spendingOperation(paymaster)
        const honest = await smallOperation()
        const hash = await admitCheapest(bundling, culprit, 1n)
        if (!isAlone) await admitCheapest(bundling, honest, 1n)
        const before = await bundling().uncoveredBundles()
        await settlePadded(paymaster)
        expect((await bundling().stored(hash)).state).toBe('included')
        expect(await bundling().uncoveredBundles()).toBe(before + 1)
        await expect(admitNext(culprit)).rejects.toMatchObject(resting)
        await admitNext(honest)
        await bundling().settle()
      }
      // Of 6 operations three lost wei: that is half of them. Of 5 it is more.
      await setPadding(paymaster, 0)
      const reputation = { address: paymaster, opsSeen: 6 }
      await setReputations(database, chainId, entryPoint, [{ ...reputation, opsIncluded: 6 }])
      await admitCheapest(bundling, await spendingOperation(paymaster))
      await setReputations(database, chainId, entryPoint, [{ ...reputation, opsIncluded: 5 }])
      const next = admitCheapest(bundling, await spendingOperation(paymaster))
      await expect(next).rejects.toMatchObject({ ...resting, data: { paymaster } })
      await bundling().settle()
    },
  )

  const padded = {
    'the account': async () => {
      const sender = await placeEntity(bundling().at(version), ++entities, { padding: PADDING })
      return operationOf(sender)
    },
    'the account, behind a context of its paymaster': async () => {
      const sender = await placeEntity(bundling().at(version), ++entities, { padding: PADDING })
      return operationOf(sender, await placePaymaster(bundling, 0, 3_200))
    },
    'the factory': async () => {
      const chain = bundling().at(version)
      const factory = await placeEntity(chain, ++entities, { padding: PADDING })
      const salt = BigInt(++entities)
      const sender = create2Address(factory, salt, fromHex(idleAccount))
      await chain.deposit(sender, parseEther('1'))
      const abi = parseAbi(['function createAccount(address owner, uint256 salt)'])
      const factoryData = encodeFunctionData({ abi, args: [factory, salt] })
      return { ...operationOf(sender), factory, factoryData }
    },
  } as const
  test.each(Object.keys(padded) as (keyof typeof padded)[])(
    'what %s returns beyond its answer costs the executor nothing',
    async (who) => {
      const sent = admitCheapest(bundling, await padded[who]())
      if (who !== 'the factory' && version >= '0.8') {
        // These versions refuse it themselves.
        await expect(sent).rejects.toThrow(/AA23/)
        return
      }
      const hash = await sent
      const from = await bundling().tester.getBlockNumber()
      await bundling().settle()
      expect((await bundling().receipt(hash)).success).toBe(true)
      const purse = bundling().executors.map(({ address }) => address)
      await expectNoLoss(bundling().tester, purse, from)
    },
  )

  test('nor does what the postOp of its paymaster returns', async () => {
    const chain = bundling().at(version)
    const paymaster = await placePaymaster(bundling, 0, 3_200)
    const hash = await admitCheapest(
      bundling,
      operationOf(await placeEntity(chain, ++entities), paymaster),
    )
    // With rules off nothing is validated again: validation answers as before, postOp more.
    const abi = parseAbi(['function padPostOp(uint256)'])
    await chain.transact(paymaster, encodeFunctionData({ abi, args: [BigInt(PADDING)] }))
    const from = await bundling().tester.getBlockNumber()
    await bundling().settle()
    expect((await bundling().receipt(hash)).success).toBe(true)
    const purse = bundling().executors.map(({ address }) => address)
    await expectNoLoss(bundling().tester, purse, from)
  })
})
