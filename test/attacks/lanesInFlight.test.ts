import { type Address, encodeFunctionData, type Hex, parseGwei } from 'viem'
import { afterEach, describe, expect, test } from 'vitest'
import { openBundles } from '../../src/bundler/outbox/bundles.js'
import { useDatabase } from '../support/database/database.js'
import { executorKeys, openWorld, type World } from '../support/world/openWorld.js'
import { settableAccountAbi, touch } from '../support/world/settableAccounts.js'

/*
 * Bundles in flight are mined one after the other, in one block. The attacker has an operation in one bundle
 * change what the validation of an operation in another needs: each bundle passes its simulation on the newest
 * state, and the one that is mined later reverts at the executor's cost.
 */
const postgres = useDatabase()

describe('operations in several bundles in flight', () => {
  let chain: World

  afterEach(() => chain.stop())

  const open = async (executors: number) => {
    chain = await openWorld(postgres().database, {
      definition: { maxBundlesPerExecutor: 4, executorKeys: executorKeys.slice(0, executors) },
    })
    await chain.anvil.request('evm_setAutomine', [false])
  }

  /** Sets up while blocks are made as transactions come. */
  const prepared = async <Result>(prepare: () => Promise<Result>): Promise<Result> => {
    await chain.anvil.request('evm_setAutomine', [true])
    const made = await prepare()
    await chain.anvil.request('evm_setAutomine', [false])
    return made
  }

  /** Call data by which the account's execution lets the validation of `victim` revert. */
  const spoiling = (victim: Address): Hex => {
    const set = { abi: settableAccountAbi, functionName: 'set' } as const
    const data = encodeFunctionData({ ...set, args: [true, false, 0n] })
    return encodeFunctionData({
      abi: settableAccountAbi,
      functionName: 'poke',
      args: [victim, data],
    })
  }

  /** wei that transactions of executors which reverted have cost, and their number. */
  const losses = async () => {
    let wei = 0n
    let count = 0
    const executors = new Set(chain.executors.map(({ address }) => address))
    const { client } = chain.anvil
    const last = await client.getBlockNumber()
    for (let number = 1n; number <= last; number++) {
      const { transactions } = await client.getBlock({ blockNumber: number })
      for (const hash of transactions) {
        const { from, status, gasUsed, effectiveGasPrice } = await client.getTransactionReceipt({
          hash,
        })
        if (status === 'success' || !executors.has(from.toLowerCase() as Address)) continue
        wei += gasUsed * effectiveGasPrice
        count++
      }
    }
    return { wei, count }
  }

  /** Rounds and blocks until nothing is pooled or in flight. */
  const finish = async (hashes: readonly Hex[]) => {
    for (let round = 0; round < 8; round++) {
      await chain.anvil.request('evm_mine', [])
      await chain.round()
    }
    return Promise.all(hashes.map(async (hash) => (await chain.stored(hash)).state))
  }

  test('behind each other with one executor: 0 wei lost', async () => {
    await open(1)
    const [attacker, victim, honest] = await prepared(async () => [
      await chain.createAccount(),
      await chain.createAccount(),
      await chain.createAccount(),
    ])
    const conflicting = await chain.admit(
      chain.operation(attacker!, { callData: spoiling(victim!), callGasLimit: 120_000n }),
    )
    await chain.round()
    expect((await chain.stored(conflicting)).state).toBe('bundled')
    const broken = await chain.admit(chain.operation(victim!))
    const other = await chain.admit(chain.operation(honest!))
    await chain.round()
    // The honest operation goes without it, next to the first bundle.
    expect((await chain.stored(other)).state).toBe('bundled')
    const states = await finish([conflicting, broken, other])
    expect(await losses()).toEqual({ wei: 0n, count: 0 })
    expect(states).toEqual(['included', 'dropped', 'included'])
  })

  test('of several executors, mined in the other order: 0 wei lost', async () => {
    await open(2)
    const [attacker, victim, honest] = await prepared(async () => [
      await chain.createAccount(),
      await chain.createAccount(),
      await chain.createAccount(),
    ])
    const broken = await chain.admit(
      chain.operation(victim!, { maxPriorityFeePerGas: parseGwei('1') }),
    )
    await chain.round()
    expect((await chain.stored(broken)).state).toBe('bundled')
    const fees = { maxFeePerGas: parseGwei('20'), maxPriorityFeePerGas: parseGwei('9') }
    const conflicting = await chain.admit(
      chain.operation(attacker!, { ...fees, callData: spoiling(victim!), callGasLimit: 120_000n }),
    )
    const other = await chain.admit(chain.operation(honest!, { ...fees, callData: touch }))
    await chain.round()
    // The block's builder takes the later bundle first.
    const [first] = await openBundles(postgres().database, chain.definition.chainId)
    const [attempt] = first!.attempts
    const raw = await chain.signedBytes(attempt)
    await chain.anvil.request('anvil_dropTransaction', [attempt.hash])
    await chain.anvil.request('evm_mine', [])
    await chain.anvil.request('eth_sendRawTransaction', [raw])
    const states = await finish([broken, conflicting, other])
    expect(await losses()).toEqual({ wei: 0n, count: 0 })
    expect(states).toEqual(['included', 'included', 'included'])
  })

  /** A round that gives each operation a bundle of its own. */
  const roundOfSingles = () => chain.roundAs({ maxBundleGas: 700_000n })

  const statesOf = (hashes: readonly Hex[]) =>
    Promise.all(hashes.map(async (hash) => (await chain.stored(hash)).state))

  const threeAccounts = () =>
    prepared(async () => [
      await chain.createAccount(),
      await chain.createAccount(),
      await chain.createAccount(),
    ])

  test.each([
    ['before', '9', 'dropped'],
    ['behind', '4', 'included'],
  ] as const)(
    'of several executors, sent in one round, the attacker %s the victim: 0 wei lost',
    async (_, tip, end) => {
      await open(2)
      const [attacker, victim, honest] = await threeAccounts()
      const fees = (gwei: string) => ({
        callGasLimit: 400_000n,
        maxFeePerGas: parseGwei('20'),
        maxPriorityFeePerGas: parseGwei(gwei),
      })
      const callData = spoiling(victim!)
      const conflicting = await chain.admit(chain.operation(attacker!, { ...fees(tip), callData }))
      const broken = await chain.admit(chain.operation(victim!, fees('5')))
      const other = await chain.admit(chain.operation(honest!, fees('3')))
      const hashes = [conflicting, broken, other]
      await roundOfSingles()
      const [first, second, third] = await statesOf(hashes)
      expect([first, second].toSorted()).toEqual(['bundled', 'pooled'])
      expect(third).toBe('bundled')
      expect(await finish(hashes)).toEqual(['included', end, 'included'])
      expect(await losses()).toEqual({ wei: 0n, count: 0 })
    },
  )
})
