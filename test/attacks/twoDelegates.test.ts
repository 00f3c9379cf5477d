import { type Address, type Hex, numberToHex, parseEther, parseGwei } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { afterEach, describe, expect, test } from 'vitest'
import {
  OperationLimitError,
  PreVerificationGasTooLowError,
} from '../../src/base/errors/operationErrors.js'
import { RuleViolationError } from '../../src/base/errors/ruleErrors.js'
import { keyFromSeed } from '../../src/cli/devnet/simpleAccount.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import type { Operation } from '../../src/erc4337/operation.js'
import { startChangedNode } from '../support/chain/changedNode.js'
import { gainsSince } from '../support/chain/executorGains.js'
import { useDatabase } from '../support/database/database.js'
import {
  executorKeys,
  openWorld,
  type World,
  type WorldSettings,
} from '../support/world/openWorld.js'
import { plainOperation } from '../support/operations/plainOperation.js'

/*
 * An authorization (EIP-7702) belongs to the envelope of a transaction and holds for one nonce of the sender's account. The
 * attacker has it fail between simulation and block: by another authorization in another bundle, for another
 * EntryPoint, or by a transaction of his own. The whole bundle reverts at the executor's cost.
 */
const postgres = useDatabase()
let seeds = 0

type Attack = {
  readonly delegate: Address
  readonly callData?: Hex
  /** Whether an authorization comes with it. */
  readonly isDelegating?: boolean
}

describe('authorizations of one account', () => {
  let world: World
  let from: bigint

  afterEach(() => world.stop())

  const open = async (
    versions: readonly Version[],
    { definition, ...settings }: WorldSettings = {},
  ) => {
    world = await openWorld(postgres().database, {
      versions,
      ...settings,
      definition: {
        executorKeys: executorKeys.slice(0, 2),
        maxBundlesPerExecutor: 4,
        maxBundleWait: 0,
        ...definition,
      },
    })
  }

  /** An account of nobody else, with deposits in these EntryPoints. */
  const createSender = async (versions: readonly Version[]) => {
    const owner = privateKeyToAccount(keyFromSeed(`delegating ${++seeds}`))
    const sender = owner.address.toLowerCase() as Address
    for (const version of versions) await world.at(version).deposit(sender, parseEther('1'))
    return { owner, sender }
  }
  type Sender = Awaited<ReturnType<typeof createSender>>

  /** The code of an account that takes each signature, and calls of these EntryPoints only. */
  const placeDelegate = async (versions: readonly Version[]): Promise<Address> => {
    const address = numberToHex(0xde1e_0000 + ++seeds, { size: 20 })
    const allowed = versions.map(
      (version) => `3373${world.at(version).entryPoint.address.slice(2)}14`,
    )
    const checks = allowed.join('') + '17'.repeat(allowed.length - 1)
    const end = numberToHex(checks.length / 2 + 6, { size: 1 }).slice(2)
    const bytecode = `0x${checks}60${end}575f5ffd5b5f5f5260205ff3` as const
    await world.tester.setCode({ address, bytecode })
    return address
  }

  const attack = async (
    { owner, sender }: Sender,
    { delegate, callData = '0xffffffff', isDelegating = true }: Attack,
    changes: Partial<Operation> = {},
  ): Promise<Operation> => {
    const nonce = await world.tester.getTransactionCount({ address: sender })
    const { chainId } = world
    const signed = await owner.signAuthorization({ address: delegate, chainId, nonce })
    const yParity = signed.yParity as 0 | 1
    return plainOperation({
      sender,
      callData,
      preVerificationGas: 1n,
      maxFeePerGas: parseGwei('20'),
      maxPriorityFeePerGas: parseGwei('2'),
      authorization: isDelegating ? { ...signed, nonce: BigInt(nonce), yParity } : undefined,
      ...changes,
    })
  }

  const admit = async (op: Operation, version: Version): Promise<Hex> => {
    for (let preVerificationGas = op.preVerificationGas; ; ) {
      try {
        return await world.admit({ ...op, preVerificationGas }, world.at(version).entryPoint)
      } catch (error) {
        if (!(error instanceof PreVerificationGasTooLowError)) throw error
        preVerificationGas = BigInt((error.data as { required: string }).required)
      }
    }
  }

  /** From now on blocks are made by the test only. */
  const stopClock = async () => {
    await world.setAutomine(false)
    from = await world.tester.getBlockNumber()
  }

  /** Rounds and blocks until nothing is pooled or in flight. */
  const finish = async () => {
    for (let round = 0; round < 8; round++) {
      await world.anvil.request('evm_mine', [])
      await world.round()
    }
  }

  const expectNoRevert = async () => {
    const purse = world.executors.map(({ address }) => address)
    for (const { gain } of await gainsSince(world.tester, purse, from))
      expect(gain).toBeGreaterThanOrEqual(0n)
    expect(await world.openBundles()).toEqual([])
  }

  const pairs: [Version, Version][] = [
    ['0.8', '0.9'],
    ['0.9', '0.7'],
    ['0.7', '0.8'],
    ['0.9', '0.9'],
  ]

  test.each(pairs)(
    'AUTH-040: two delegates on v%s and v%s, the second is refused',
    async (a, b) => {
      const versions = [...new Set([a, b])]
      await open(versions)
      const sender = await createSender(versions)
      const first = await attack(sender, { delegate: await placeDelegate([a]) })
      const other = {
        delegate: await placeDelegate([b]),
        callData: `0x${'ff'.repeat(5_000)}`,
      } as const
      const second = await attack(sender, other, { nonce: 1n << 64n })
      await stopClock()
      const hash = await admit(first, a)
      await expect(admit(second, b)).rejects.toThrow(RuleViolationError)
      await expect(admit(second, b)).rejects.toThrow('AUTH-040')
      await world.round()
      expect(await world.stateOf(hash)).toBe('bundled')
      await expect(admit(second, b)).rejects.toThrow('AUTH-040')
      await finish()
      expect(await world.stateOf(hash)).toBe('included')
      await expectNoRevert()
    },
  )

  test('two at once: one of them is refused', async () => {
    await open(['0.8', '0.9'])
    const sender = await createSender(['0.8', '0.9'])
    const first = await attack(sender, { delegate: await placeDelegate(['0.8']) })
    const second = await attack(sender, { delegate: await placeDelegate(['0.9']) })
    const preVerificationGas = 200_000n
    const results = await Promise.allSettled([
      admit({ ...first, preVerificationGas }, '0.8'),
      admit({ ...second, preVerificationGas }, '0.9'),
    ])
    expect(results.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
    // The one that is replaced does not count.
    const [isFirst] = results.map(({ status }) => status === 'fulfilled')
    const [op, version] = isFirst ? ([first, '0.8'] as const) : ([second, '0.9'] as const)
    const renewed = await attack(sender, { delegate: await placeDelegate([version]) })
    const fees = { maxFeePerGas: op.maxFeePerGas * 2n, maxPriorityFeePerGas: parseGwei('4') }
    const hash = await admit({ ...renewed, ...fees, preVerificationGas }, version)
    expect(await world.stateOf(hash)).toBe('pooled')
  })

  const withoutSequences = (rpcUrl: string) =>
    startChangedNode(rpcUrl, (method, _, answer) =>
      method === 'eth_simulateV1'
        ? { ...answer, result: undefined, error: { code: -32_601, message: 'not found' } }
        : answer,
    )

  test.each([
    ['with eth_simulateV1', {}],
    ['on a node without', { front: withoutSequences }],
  ])(
    'an account has one authorization in flight and no other operation, %s',
    async (_, settings) => {
      await open(['0.8', '0.9'], settings)
      const sender = await createSender(['0.8', '0.9'])
      const anywhere = await placeDelegate(['0.8', '0.9'])
      const only = await placeDelegate(['0.9'])
      // The account runs a delegate that serves both; the authorization takes v0.8 away.
      await world.tester.setCode({
        address: sender.sender,
        bytecode: `0xef0100${anywhere.slice(2)}`,
      })
      const plain = await attack(sender, { delegate: anywhere, isDelegating: false })
      const conflicting = await attack(
        sender,
        { delegate: only },
        { maxPriorityFeePerGas: parseGwei('9') },
      )
      await stopClock()
      const first = await admit(plain, '0.8')
      await world.round()
      expect(await world.stateOf(first)).toBe('bundled')
      const second = await admit(conflicting, '0.9')
      await world.round()
      expect(await world.stateOf(second)).toBe('pooled')
      await world.anvil.request('evm_mine', [])
      await world.round()
      expect([await world.stateOf(first), await world.stateOf(second)]).toEqual([
        'included',
        'bundled',
      ])
      // Nor does anything follow the authorization before it is mined.
      const third = await admit({ ...plain, nonce: 1n << 64n }, '0.8')
      await world.round()
      expect(await world.stateOf(third)).toBe('pooled')
      await finish()
      expect([await world.stateOf(second), await world.stateOf(third)]).toEqual([
        'included',
        'dropped',
      ])
      await expectNoRevert()
    },
  )

  test('while a transaction of its own is pending, it waits', async () => {
    await open(['0.8'])
    const sender = await createSender(['0.8'])
    const op = await attack(sender, { delegate: await placeDelegate(['0.8']) })
    await world.tester.setBalance({ address: sender.sender, value: parseEther('1') })
    await stopClock()
    const hash = await admit(op, '0.8')
    await world.anvil.request('eth_sendRawTransaction', [await selfTransaction(sender)])
    await world.round()
    expect(await world.stateOf(hash)).toBe('pooled')
    await finish()
    expect((await world.stored(hash)).reasonCode).toBe('STALE_AUTHORIZATION')
    await expectNoRevert()
  })

  const selfTransaction = async ({ owner, sender }: Sender) => {
    const fees = { maxFeePerGas: parseGwei('50'), maxPriorityFeePerGas: parseGwei('30') }
    const transaction = { chainId: world.chainId, to: sender, nonce: 0, gas: 30_000n, ...fees }
    return owner.signTransaction(transaction)
  }

  test('what remains: the sender raises its nonce in the same block, and pays for each time', async () => {
    await open(['0.8'])
    const sender = await createSender(['0.8'])
    const honest = await createSender(['0.8'])
    await world.tester.setBalance({ address: sender.sender, value: parseEther('1') })
    const delegate = await placeDelegate(['0.8'])
    // Without the authorization it runs a delegate that never ends.
    const burner = numberToHex(0xde1e_f000, { size: 20 })
    await world.tester.setCode({ address: burner, bytecode: '0x5b5f56' })
    const delegated = (to: Address) => `0xef0100${to.slice(2)}` as const
    await world.tester.setCode({ address: sender.sender, bytecode: delegated(burner) })
    await world.tester.setCode({ address: honest.sender, bytecode: delegated(delegate) })
    const callData = `0x${'ff'.repeat(7_400)}` as const
    const op = await attack(sender, { delegate, callData }, { verificationGasLimit: 1_000_000n })
    await stopClock()
    const hash = await admit(op, '0.8')
    const other = await admit(await attack(honest, { delegate, isDelegating: false }), '0.8')
    await world.round()
    await world.anvil.request('eth_sendRawTransaction', [await selfTransaction(sender)])
    const bundles = await world.openBundles()
    const raws = await Promise.all(bundles.map(({ attempts: [first] }) => world.signedBytes(first)))
    const { attempts } = bundles.find((_, place) => raws[place]?.startsWith('0x04'))!
    await finish()
    const { status, gasUsed } = await world.tester.getTransactionReceipt({
      hash: attempts[0].hash,
    })
    expect(status).toBe('reverted')
    expect(gasUsed).toBeLessThan(1_400_000n)
    expect([await world.stateOf(hash), await world.stateOf(other)]).toEqual(['dropped', 'included'])
    const next = await attack(sender, { delegate }, { nonce: 1n << 64n })
    await expect(admit(next, '0.8')).rejects.toThrow(/made 1 bundles fail on the chain/)
  })

  test('it goes alone, at a price for that, and is small', async () => {
    await open(['0.9'], {
      definition: { expectedBundleSize: 4, executorKeys: executorKeys.slice(0, 1) },
    })
    const { entryPoint } = world.at('0.9')
    const delegate = await placeDelegate(['0.9'])
    const risky = await createSender(['0.9'])
    const honest: Sender[] = []
    while (honest.length < 4) honest.push(await createSender(['0.9']))
    const bytecode = `0xef0100${delegate.slice(2)}` as const
    for (const { sender } of honest) await world.tester.setCode({ address: sender, bytecode })

    const large = await attack(risky, { delegate, callData: `0x${'ff'.repeat(9_000)}` })
    await expect(admit(large, '0.9')).rejects.toThrow(OperationLimitError)
    const costly = await attack(risky, { delegate }, { verificationGasLimit: 1_100_000n })
    await expect(admit(costly, '0.9')).rejects.toThrow(OperationLimitError)

    const op = await attack(risky, { delegate }, { maxPriorityFeePerGas: parseGwei('3') })
    const { authorization: _, ...plain } = op
    const [delegating, calling] = await Promise.all([
      world.estimate(entryPoint, op),
      world.estimate(entryPoint, { ...plain, sender: honest[0]!.sender, authorization: undefined }),
    ])
    expect(delegating.preVerificationGas).toBeGreaterThan(calling.preVerificationGas + 40_000n)
    await stopClock()
    const { preVerificationGas } = delegating
    const alone = await admit({ ...op, preVerificationGas }, '0.9')
    const together = await Promise.all(
      honest.map(async (sender) =>
        admit(await attack(sender, { delegate, isDelegating: false }), '0.9'),
      ),
    )
    await world.round()
    const bundleOf = async (hash: Hex) => (await world.stored(hash)).bundleId
    const own = await bundleOf(alone)
    const others = await Promise.all(together.map(bundleOf))
    expect(own).not.toBeNull()
    expect(others).not.toContain(own)
    expect(new Set(others).size).toBe(1)
    await finish()
    for (const hash of [alone, ...together]) expect(await world.stateOf(hash)).toBe('included')
    await expectNoRevert()
  })
})
