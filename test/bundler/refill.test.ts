import { sql } from 'kysely'
import { numberToHex, parseEther } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeEach, describe, expect, test } from 'vitest'
import { SignerUnavailableError } from '../../src/base/errors/processErrors.js'
import { executorStatus } from '../../src/bundler/executorStatus.js'
import { abandonBundle, storeBundle } from '../../src/bundler/outbox/outbox.js'
import { signAttempt, transferTransaction } from '../../src/bundler/send/attempts.js'
import { followChain, keepLanes } from '../../src/bundler/send/followChain.js'
import { sendBundles } from '../../src/bundler/send/sendBundles.js'
import type { ExecutorSigner } from '../../src/chain/signing/executorTransaction.js'
import { until } from '../support/until.js'
import { executorKeys } from '../support/world/openWorld.js'
import { useFreshWorld } from '../support/world.js'

const treasuryKey = `0x${'7e'.repeat(32)}` as const
const treasury = privateKeyToAccount(treasuryKey).address.toLowerCase() as `0x${string}`

describe('a treasury', () => {
  const chain = useFreshWorld({
    definition: {
      executorKeys,
      executorMinBalance: parseEther('0.5'),
      maxBundlesPerExecutor: 4,
      treasury: { key: treasuryKey, refillBelow: parseEther('1'), refillTo: parseEther('3') },
    },
  })

  beforeEach(async () => {
    await setBalance(treasury, '100')
  })

  const setBalance = (address: `0x${string}`, ether: string) =>
    chain().anvil.request('anvil_setBalance', [address, numberToHex(parseEther(ether))])
  const balance = (address: `0x${string}`) => chain().anvil.client.getBalance({ address })
  const open = () => chain().openBundles()
  const newHead = () => chain().anvil.request('evm_mine', [])

  test('fills up executors that run short, each once, however often it is looked at', async () => {
    await chain().setAutomine(false)
    for (const { address } of chain().executors) await setBalance(address, '0.2')
    await newHead()
    for (let i = 0; i < 3; i++) await chain().round()
    expect((await open()).map(({ kind, executor }) => [kind, executor])).toEqual([
      ['refill', treasury],
      ['refill', treasury],
    ])
    await newHead()
    for (let i = 0; i < 3; i++) {
      await chain().round()
      await newHead()
    }
    for (const { address } of chain().executors)
      expect(await balance(address)).toBe(parseEther('3'))
    const { rows } = await sql<{ holder: string; amount: bigint }>`select holder,
      sum(amount)::numeric(78, 0) as amount from ledger_entries
      where chain_id = ${chain().chainId} and account = 'executor' group by 1`.execute(
      chain().database,
    )
    const gained = Object.fromEntries(rows.map(({ holder, amount }) => [holder, amount]))
    for (const { address } of chain().executors)
      expect(gained[address]).toBe(parseEther('3') - parseEther('0.2'))
    expect(gained[treasury]).toBe((await balance(treasury)) - parseEther('100'))
    expect(await open()).toEqual([])
    expect(await chain().anvil.client.getTransactionCount({ address: treasury })).toBe(2)
    await chain().setAutomine(true)
  })

  test('goes on for one executor while the key of another cannot fill a missing nonce', async () => {
    const [first, second] = chain().executors
    const senders = [await chain().createAccount(), await chain().createAccount()]
    await chain().setAutomine(false)
    const followBy = async (signers: readonly ExecutorSigner[], sends: boolean) => {
      const context = { ...chain().context, signers }
      const followed = await followChain(context, await chain().heads.refresh())
      if (sends) await sendBundles(context, followed!, { turn: 0, freshHead: true })
      else await keepLanes(context, followed!)
    }
    for (const sender of senders) {
      await chain().admit(chain().operation(sender))
      await followBy([first!], true)
    }
    const [lost] = await open()
    await abandonBundle(chain().database, lost!.id)
    await chain().anvil.request('anvil_dropTransaction', [lost!.attempts[0].hash])
    await setBalance(second!.address, '0.2')
    const denied = () => Promise.reject(new SignerUnavailableError(first!.address, 'denied'))
    await followBy([{ ...first!, signTransaction: denied }, second!], false)
    expect((await open()).map(({ kind }) => kind).sort()).toEqual(['operations', 'refill'])
    await chain().setAutomine(true)
    await newHead()
    await until(async () => {
      await chain().round()
      return (await open()).length === 0
    })
  })

  test('sends a refill once that was signed and not sent before a crash', async () => {
    const [executor] = chain().executors.map(({ address }) => address)
    await setBalance(executor!, '0.2')
    await newHead()
    const { context } = chain()
    const { chainId } = chain().definition
    const transfer = { from: treasury, to: executor!, value: parseEther('2.8'), nonce: 0n }
    const fees = { maxFeePerGas: 10n ** 10n, maxPriorityFeePerGas: 10n ** 9n }
    const transaction = await transferTransaction(context.node, { chainId, ...transfer, fees })
    const attempt = await signAttempt(context.treasury!, transaction)
    const bundle = { chainId, kind: 'refill', entryPoint: null, executor: treasury } as const
    await storeBundle(chain().database, { ...bundle, nonce: 0n }, attempt, [])
    await until(async () => {
      await chain().round()
      return (await open()).length === 0
    })
    await chain().round()
    expect(await balance(executor!)).toBe(parseEther('3'))
    expect(await chain().anvil.client.getTransactionCount({ address: treasury })).toBe(1)
  })

  test('pays again what a reorg took back, and not twice', async () => {
    const [executor] = chain().executors.map(({ address }) => address)
    const drain = async () => {
      await setBalance(executor!, '0.2')
      await newHead()
    }
    await drain()
    await until(async () => {
      await chain().round()
      return (await balance(executor!)) === parseEther('3') && (await open()).length === 0
    })
    await chain().anvil.request('anvil_reorg', [1, []])
    await newHead()
    await until(async () => {
      await chain().round()
      return (await open()).length === 0 && (await balance(executor!)) > parseEther('1')
    })
    await chain().round()
    expect(await balance(executor!)).toBe(parseEther('3'))
    expect(await chain().anvil.client.getTransactionCount({ address: treasury })).toBe(1)
  })

  test('that is short itself says so, and spends nothing without success', async () => {
    await setBalance(treasury, '0.1')
    for (const { address } of chain().executors) await setBalance(address, '0.2')
    await newHead()
    await chain().round()
    expect(await open()).toEqual([])
    const status = await executorStatus(chain().context, chain().heads.current())
    expect(status.map(({ role, state }) => [role, state])).toEqual([
      ['treasury', 'paused'],
      ['executor', 'paused'],
      ['executor', 'paused'],
    ])
    expect(status[0]?.alert).toContain('not enough to refill')
  })
})
