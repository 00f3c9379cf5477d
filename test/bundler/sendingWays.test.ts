import { type Address, encodeFunctionData, type Hex, numberToHex, parseGwei } from 'viem'
import { privateKeyToAddress } from 'viem/accounts'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { openBundles } from '../../src/bundler/outbox/bundles.js'
import { followChain } from '../../src/bundler/send/followChain.js'
import { sendBundles } from '../../src/bundler/send/sendBundles.js'
import type { ChainDefinition } from '../../src/chain/definition/chainDefinition.js'
import { openRelay } from '../../src/service/bundleChain.js'
import { startRelay, type TestRelay } from '../support/chain/relay.js'
import { useDatabase } from '../support/database/database.js'
import { until } from '../support/until.js'
import { openWorld, type World } from '../support/world/openWorld.js'
import { settableAccountAbi } from '../support/world/settableAccounts.js'

const postgres = useDatabase()
const authKey: Hex = `0x${'5a'.repeat(32)}`
/** Blocks for which a relay has a bundle alone. */
const PUBLIC_AFTER = 4
/** Gas of a transaction that does nothing. */
const NOTHING_GAS = 21_000n

let chain: World
let relay: TestRelay

/** A chain whose bundles go this way; the relay is there before the chain that it builds for. */
async function open(sending: (url: string) => ChainDefinition['sending']): Promise<void> {
  let target = ''
  relay = await startRelay(() => target)
  chain = await openWorld(postgres().database, {
    definition: { sending: sending(relay.url), maxBundlesPerExecutor: 2 },
  })
  target = chain.anvil.url
}

async function close(): Promise<void> {
  await chain.stop()
  await relay.stop()
}

const wealth = (): Promise<bigint> =>
  chain.anvil.client.getBalance({ address: chain.executors[0]!.address })

const inFlight = () => openBundles(postgres().database, chain.definition.chainId)

const mine = async (blocks = 1): Promise<void> => {
  await chain.anvil.request('anvil_mine', [numberToHex(blocks)])
  await chain.heads.refresh()
}

const stateOf = async (hash: Hex) => (await chain.stored(hash)).state

/** Whether the public node has the newest transaction of the only open bundle. */
const isPublic = async (): Promise<boolean> => {
  const [bundle] = await inFlight()
  const { hash } = bundle!.attempts.at(-1)!
  return (await chain.anvil.request('eth_getTransactionByHash', [hash])) !== null
}

/** An operation in a bundle that was just sent. */
const sent = async (account?: Address): Promise<Hex> => {
  const hash = await chain.admit(chain.operation(account ?? (await chain.createAccount())))
  await chain.round()
  expect(await stateOf(hash)).toBe('bundled')
  return hash
}

/** The owner of an account makes its bundle revert. */
const attackOn = (account: Address) => {
  const args = [true, false, 0n] as const
  return {
    from: chain.anvil.account,
    to: account,
    data: encodeFunctionData({ abi: settableAccountAbi, functionName: 'set', args }),
  }
}

/** The attack, mined before the bundle. */
const frontRun = (account: Address) => chain.anvil.send(attackOn(account))

describe('publicly', () => {
  beforeAll(() => open(() => ({ way: 'public' })))
  afterAll(close)

  test('a bundle that somebody makes revert costs the operator all its gas', async () => {
    const account = await chain.createAccount()
    const before = await wealth()
    await chain.anvil.request('evm_setAutomine', [false])
    await sent(account)
    const fees = { maxFeePerGas: '0x174876e800', maxPriorityFeePerGas: '0xba43b7400' }
    await chain.anvil.request('eth_sendTransaction', [{ ...attackOn(account), ...fees }])
    await mine()
    await chain.anvil.request('evm_setAutomine', [true])
    await chain.settle()
    expect(before - (await wealth())).toBeGreaterThan(2n * NOTHING_GAS * parseGwei('1'))
  })
})

describe('by a private relay that takes bundles back', () => {
  beforeAll(() =>
    open((url) => ({
      way: 'private',
      url,
      method: 'eth_sendPrivateTransaction',
      authKey,
      publicAfter: PUBLIC_AFTER,
    })),
  )
  afterAll(close)
  beforeEach(() => relay.set('works'))
  afterEach(async () => {
    // The relay's rest after a failure is over for the next test.
    relay.held.clear()
    await mine(2 * PUBLIC_AFTER)
    await chain.settle()
  })

  test('a bundle is seen by nobody before it is included, and asked for with a signature', async () => {
    const hash = await sent()
    expect(await isPublic()).toBe(false)
    expect(relay.held.size).toBe(1)
    expect(relay.signers.at(-1)).toBe(privateKeyToAddress(authKey))
    const built = await relay.build()
    await chain.round()
    expect((await chain.receipt(hash)).receipt.transactionHash).toBe(built[0])
    const { actualGasCost, receipt } = await chain.receipt(hash)
    expect(actualGasCost).toBeGreaterThanOrEqual(receipt.gasUsed * receipt.effectiveGasPrice)
  })

  test('one that somebody makes revert costs nothing, and its honest operation goes next', async () => {
    const account = await chain.createAccount()
    const honest = await chain.admit(chain.operation(await chain.createAccount()))
    const before = await wealth()
    const bad = await sent(account)
    expect(await stateOf(honest)).toBe('bundled')
    await frontRun(account)
    expect(await relay.build()).toEqual([])
    await chain.round()
    expect(relay.asked().at(-1)).not.toBe('eth_sendRawTransaction')
    expect(await stateOf(bad)).toBe('dropped')
    expect(await wealth()).toBe(before)
    expect(await relay.build()).toHaveLength(1)
    await chain.round()
    expect(await stateOf(honest)).toBe('included')
    expect(await wealth()).toBeGreaterThanOrEqual(before)
  })

  test('fees rise there too: one of the two transactions is included', async () => {
    const hash = await sent()
    const eager = { ...chain.context, definition: { ...chain.definition, resubmitAfter: 0 } }
    await followChain(eager, await chain.heads.refresh())
    expect(relay.held.size).toBe(2)
    expect(await isPublic()).toBe(false)
    const [bundle] = await inFlight()
    expect(await relay.build()).toEqual([bundle!.attempts[1]!.hash])
    await chain.round()
    expect(await stateOf(hash)).toBe('included')
  })

  test('what the operator cancels is taken back at no cost', async () => {
    const before = await wealth()
    const hash = await sent()
    await postgres()
      .database.updateTable('operations')
      .set({ cancel_requested_at: new Date() })
      .where('hash', '=', hash)
      .execute()
    await chain.round()
    expect(await stateOf(hash)).toBe('dropped')
    expect(relay.held.size).toBe(0)
    expect(await inFlight()).toEqual([])
    expect(await wealth()).toBe(before)
  })

  test('a new process offers again what an old one offered, which changes nothing', async () => {
    const hash = await sent()
    const again = openRelay(chain.chain)
    await followChain({ ...chain.context, relay: again }, await chain.heads.refresh())
    await again?.close()
    expect(relay.held.size).toBe(1)
    await relay.build()
    await chain.round()
    expect(await stateOf(hash)).toBe('included')
  })

  test.each(['swallows', 'babbles', 'is down'] as const)(
    'when it %s, a bundle is sent publicly after the stated blocks, others at once, until its pause is over',
    async (mood) => {
      relay.set(mood)
      const before = await wealth()
      const account = await chain.createAccount()
      await chain.anvil.request('evm_setAutomine', [false])
      const hash = await sent(account)
      for (let block = 1; block < PUBLIC_AFTER; block++) {
        await mine()
        await chain.round()
        expect(await isPublic(), `after ${block} blocks`).toBe(false)
      }
      await mine()
      await chain.round()
      expect(await isPublic()).toBe(true)
      await mine()
      await chain.round()
      expect(await stateOf(hash)).toBe('included')
      await chain.anvil.request('evm_setAutomine', [true])
      const second = await chain.admit(chain.operation(account, { nonce: 1n }))
      await chain.settle()
      expect(await stateOf(second)).toBe('included')
      relay.set('works')
      await mine(PUBLIC_AFTER)
      const third = await chain.admit(chain.operation(account, { nonce: 2n }))
      await chain.round()
      expect([await isPublic(), relay.held.size > 0]).toEqual([false, true])
      await relay.build()
      await chain.round()
      expect(await stateOf(third)).toBe('included')
      expect(await wealth()).toBeGreaterThanOrEqual(before)
    },
  )
})

describe('by a protecting endpoint, which takes nothing back', () => {
  beforeAll(() =>
    open((url) => ({
      way: 'private',
      url,
      method: 'eth_sendRawTransaction',
      publicAfter: PUBLIC_AFTER,
    })),
  )
  afterAll(close)

  test('a bundle that somebody makes revert costs a transaction that does nothing, and no more', async () => {
    const account = await chain.createAccount()
    const before = await wealth()
    const bad = await sent(account)
    await frontRun(account)
    expect(await relay.build()).toEqual([])
    await chain.round()
    expect((await inFlight())[0]?.attempts.map(({ noop }) => noop)).toEqual([false, true])
    await chain.settle()
    expect(await stateOf(bad)).toBe('dropped')
    expect(await relay.build(), 'its nonce is used').toEqual([])
    const ended = await postgres()
      .database.selectFrom('bundles')
      .select(['state', 'cost', 'transaction_hash'])
      .where('chain_id', '=', BigInt(chain.definition.chainId))
      .execute()
    expect(ended.map(({ state }) => state)).toEqual(['cancelled'])
    const hash = ended[0]!.transaction_hash!
    const { gasUsed, effectiveGasPrice } = await chain.anvil.client.getTransactionReceipt({ hash })
    expect(gasUsed).toBe(NOTHING_GAS)
    expect(before - (await wealth())).toBe(NOTHING_GAS * effectiveGasPrice)
    expect(ended[0]!.cost).toBe(NOTHING_GAS * effectiveGasPrice)
  })
})

describe('under conditions', () => {
  let mixed: World
  let judge: TestRelay
  const fees = { maxFeePerGas: parseGwei('5'), maxPriorityFeePerGas: parseGwei('1') }
  const sending = { way: 'conditional', publicAfter: PUBLIC_AFTER } as const

  beforeAll(async () => {
    let target = ''
    judge = await startRelay(() => target)
    mixed = await openWorld(postgres().database, {
      definition: { rules: 'full', sending: { ...sending, url: judge.url } },
    })
    target = mixed.anvil.url
  })
  afterAll(async () => {
    await mixed?.stop()
    await judge?.stop()
  })

  /** An operation of a new sender, which is deployed already or by the operation. */
  const admitted = async (kind: 'deployed' | 'counterfactual', name: string) => {
    const { entryPoint, draft, fund, sign } = mixed.at('0.7')
    const op = { ...(await draft(kind, name)), ...fees }
    await fund(op.sender)
    const { callGasLimit, verificationGasLimit, preVerificationGas } = await mixed.estimate(
      entryPoint,
      op,
    )
    const limited = { ...op, callGasLimit, verificationGasLimit, preVerificationGas }
    return { hash: await mixed.admit(await sign(limited, name), entryPoint), sender: op.sender }
  }
  /** Changes the first slot of the account that the only bundle at the relay depends on. */
  const changeStorage = async (account: Address): Promise<void> => {
    const [held] = judge.held.values()
    const [slot] = Object.keys(held!.conditions.knownAccounts![account]!) as Hex[]
    const value = numberToHex(0xdead, { size: 32 })
    await mixed.tester.setStorageAt({ address: account, index: slot!, value })
    await mixed.tester.mine({ blocks: 1 })
    expect(await judge.build()).toEqual([])
  }
  const executorWealth = () => mixed.balanceOf(mixed.executors[0]!.address)

  test('a bundle names the storage that its validations read, as it is, and its last block', async () => {
    const { hash, sender } = await admitted('deployed', 'named')
    await mixed.round()
    const [held] = judge.held.values()
    const { knownAccounts = {}, blockNumberMax } = held!.conditions
    const slots = Object.entries(knownAccounts[sender] ?? {})
    expect(slots.length).toBeGreaterThan(0)
    for (const [slot, value] of slots)
      expect(await mixed.tester.getStorageAt({ address: sender, slot: slot as Hex })).toBe(value)
    expect(Object.keys(knownAccounts)).not.toContain(mixed.at('0.7').entryPoint.address)
    const relayedAt = (await mixed.tester.getBlockNumber()) + BigInt(PUBLIC_AFTER)
    expect(BigInt(blockNumberMax!)).toBe(relayedAt)
    expect(await judge.build()).toHaveLength(1)
    await mixed.round()
    expect((await mixed.stored(hash)).state).toBe('included')
  })

  test('one whose storage changes harmlessly is left out, and offered again under new conditions', async () => {
    const { hash, sender } = await admitted('counterfactual', 'harmless')
    await mixed.round()
    await changeStorage(sender)
    await mixed.round()
    expect(await judge.build()).toHaveLength(1)
    await mixed.round()
    expect((await mixed.stored(hash)).state).toBe('included')
  })

  test('one that a change of storage makes revert is left out and taken back', async () => {
    const { hash, sender } = await admitted('deployed', 'harmed')
    await mixed.round()
    const before = await executorWealth()
    await changeStorage(sender)
    await mixed.settle()
    expect((await mixed.stored(hash)).state).toBe('dropped')
    const lost = before - (await executorWealth())
    const { baseFeePerGas } = await mixed.tester.getBlock()
    expect(lost).toBeGreaterThan(0n)
    expect(lost, 'wei').toBeLessThanOrEqual(
      NOTHING_GAS * (2n * baseFeePerGas! + 2n * fees.maxPriorityFeePerGas),
    )
    expect(await judge.build()).toEqual([])
  })

  test('where the nodes do not know the method, bundles are sent publicly after the stated blocks', async () => {
    const before = await executorWealth()
    const definition = { ...mixed.definition, sending }
    const nowhere = openRelay({ ...mixed.chain, definition })
    const context = { ...mixed.context, definition, relay: nowhere }
    const { hash } = await admitted('deployed', 'nowhere')
    const round = async (): Promise<void> => {
      const followed = await followChain(context, await mixed.heads.refresh())
      if (followed) await sendBundles(context, followed, { turn: 0, freshHead: true })
    }
    await round()
    await mixed.tester.mine({ blocks: PUBLIC_AFTER - 1 })
    await round()
    expect((await mixed.stored(hash)).state).toBe('bundled')
    await mixed.tester.mine({ blocks: 1 })
    await until(async () => {
      await round()
      return (await mixed.stored(hash)).state === 'included'
    })
    expect(await executorWealth()).toBeGreaterThanOrEqual(before)
  })
})
