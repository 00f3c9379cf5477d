import { encodeFunctionData, type Hex, parseEther, parseGwei } from 'viem'
import { describe, expect, test } from 'vitest'
import { operationByHash } from '../../src/bundler/operationViews.js'
import { executorKeys } from '../support/world/openWorld.js'
import { settableAccountAbi } from '../support/world/settableAccounts.js'
import { useFreshWorld } from '../support/world.js'

const fail = encodeFunctionData({
  abi: settableAccountAbi,
  functionName: 'fail',
  args: ['no, thanks'],
})

describe('bundling cycles', () => {
  const chain = useFreshWorld({ definition: { executorKeys } })

  const admitFrom = async (count: number): Promise<Hex[]> => {
    const hashes: Hex[] = []
    for (let i = 0; i < count; i++)
      hashes.push(await chain().admit(chain().operation(await chain().createAccount())))
    return hashes
  }

  test('carry the operations of several senders in one transaction that pays for itself', async () => {
    const hashes = await admitFrom(5)
    await chain().settle()
    const receipts = await Promise.all(hashes.map((hash) => chain().receipt(hash)))
    expect(new Set(receipts.map(({ receipt }) => receipt.transactionHash)).size).toBe(1)
    expect(receipts.every(({ success }) => success)).toBe(true)
    const { gasUsed, effectiveGasPrice } = receipts[0]!.receipt
    const earned = receipts.reduce((sum, { actualGasCost }) => sum + actualGasCost, 0n)
    expect(earned).toBeGreaterThanOrEqual(gasUsed * effectiveGasPrice)
  })

  test('pay for themselves also with one operation', async () => {
    const [hash] = await admitFrom(1)
    await chain().settle()
    const { actualGasCost, receipt } = await chain().receipt(hash!)
    expect(actualGasCost).toBeGreaterThanOrEqual(receipt.gasUsed * receipt.effectiveGasPrice)
  })

  test('drop the one operation that fails, with its reason, and include the others', async () => {
    const turncoat = await chain().createAccount()
    const bad = await chain().admit(chain().operation(turncoat))
    const good = await admitFrom(4)
    await chain().configure(turncoat, { refuses: true })
    await chain().settle()
    expect(await chain().stored(bad)).toMatchObject({
      state: 'dropped',
      reasonCode: 'AA23',
      reason: expect.stringContaining('not in the mood'),
    })
    expect(await chain().status(bad)).toMatchObject({
      state: 'DROPPED_FROM_BUNDLER_MEMPOOL',
      message: expect.stringContaining('AA23'),
    })
    for (const hash of good) expect((await chain().stored(hash)).state).toBe('included')
  })

  test('let an operation wait that fails only because of another one', async () => {
    const paymaster = await chain().createAccount()
    const ops = [
      chain().operation(await chain().createAccount(), { paymaster }),
      chain().operation(await chain().createAccount(), { paymaster }),
    ]
    const hashes = [await chain().admit(ops[0]!), await chain().admit(ops[1]!)]
    const enoughForOne = (chain().entryPoint.requiredPrefund(ops[0]!) * 3n) / 2n
    await chain().withdraw(paymaster, parseEther('1') - enoughForOne)
    await chain().settle()
    const receipts = await Promise.all(hashes.map((hash) => chain().receipt(hash)))
    expect(new Set(receipts.map(({ receipt }) => receipt.transactionHash)).size).toBe(2)
  })

  test('include an operation whose call reverts as not successful, with the reason', async () => {
    const hash = await chain().admit(
      chain().operation(await chain().createAccount(), { callData: fail }),
    )
    await chain().settle()
    const receipt = await chain().receipt(hash)
    expect(receipt.success).toBe(false)
    expect(receipt.reason).toContain(Buffer.from('no, thanks').toString('hex'))
    expect(await chain().status(hash)).toMatchObject({
      state: 'CONFIRMED',
      receipt: { success: false },
    })
  })

  test('take operations of one sender with different nonce keys one bundle after the other', async () => {
    const sender = await chain().createAccount()
    const hashes: Hex[] = []
    for (const key of [0n, 1n, 2n])
      hashes.push(await chain().admit(chain().operation(sender, { nonce: key << 64n })))
    await chain().settle()
    const receipts = await Promise.all(hashes.map((hash) => chain().receipt(hash)))
    expect(new Set(receipts.map(({ receipt }) => receipt.transactionHash)).size).toBe(3)
  })

  test('use one executor each for bundles at the same time', async () => {
    const senders = [
      await chain().createAccount(),
      await chain().createAccount(),
      await chain().createAccount(),
    ]
    await chain().setAutomine(false)
    for (const sender of senders) {
      await chain().admit(chain().operation(sender))
      await chain().round()
    }
    const open = await chain().openBundles()
    expect(open.map(({ executor }) => executor).sort()).toEqual(
      chain()
        .executors.map(({ address }) => address)
        .sort(),
    )
  })

  test('leave an operation in the pool while it cannot pay the base fee', async () => {
    const hash = await chain().admit(chain().operation(await chain().createAccount()))
    await chain().anvil.request('anvil_setNextBlockBaseFeePerGas', [
      `0x${parseGwei('11').toString(16)}`,
    ])
    await chain().anvil.request('evm_mine', [])
    await chain().round()
    expect((await chain().stored(hash)).state).toBe('pooled')
    await chain().anvil.request('anvil_setNextBlockBaseFeePerGas', ['0x1'])
    await chain().anvil.request('evm_mine', [])
    await chain().settle()
    expect((await chain().stored(hash)).state).toBe('included')
  })

  test('drop an operation whose paymaster became poor, with the numbers', async () => {
    const paymaster = await chain().createAccount()
    const op = chain().operation(await chain().createAccount(), { paymaster })
    const hash = await chain().admit(op)
    await chain().withdraw(paymaster, parseEther('1') - 7n)
    await chain().settle()
    const { state, reasonCode, reason } = await chain().stored(hash)
    expect([state, reasonCode]).toEqual(['dropped', 'AA31'])
    expect(reason).toContain(`needs ${chain().entryPoint.requiredPrefund(op)} wei`)
    expect(reason).toContain('has 7 deposited')
  })

  test('drop an operation that expires in the pool', async () => {
    const paymaster = await chain().createAccount()
    const { timestamp } = await chain().anvil.client.getBlock()
    const validUntil = timestamp + 3_600n
    await chain().configure(paymaster, { validationData: validUntil << 160n })
    const hash = await chain().admit(
      chain().operation(await chain().createAccount(), { paymaster }),
    )
    await chain().anvil.request('evm_increaseTime', [7_200])
    await chain().anvil.request('evm_mine', [])
    await chain().round()
    expect(await chain().stored(hash)).toMatchObject({ state: 'dropped', reasonCode: 'EXPIRED' })
  })

  test('drop an operation whose nonce another one has used', async () => {
    const sender = await chain().createAccount()
    const op = chain().operation(sender)
    const hash = await chain().admit(op)
    await chain().carry([{ ...op, callData: fail }])
    await chain().settle()
    expect(await chain().stored(hash)).toMatchObject({
      state: 'dropped',
      reasonCode: 'AA25',
      reason: expect.stringContaining('the account is at 1'),
    })
  })

  test('believe the EntryPoint, not events that an account emits in its own name', async () => {
    const sender = await chain().createAccount()
    const victim = await chain().admit(
      chain().operation(await chain().createAccount(), { callData: fail }),
    )
    const spoof = encodeFunctionData({
      abi: settableAccountAbi,
      functionName: 'spoof',
      args: [victim],
    })
    const liar = await chain().admit(
      chain().operation(sender, { callData: spoof, maxPriorityFeePerGas: parseGwei('9') }),
    )
    await chain().settle()
    const truth = await chain().receipt(victim)
    expect(truth.receipt.transactionHash).toBe(
      (await chain().receipt(liar)).receipt.transactionHash,
    )
    expect(truth.success).toBe(false)
    expect(truth.actualGasCost).toBeGreaterThan(1n)
  })

  test('show an operation from the pool to its block', async () => {
    const op = chain().operation(await chain().createAccount())
    const hash = await chain().admit(op)
    expect(await chain().status(hash)).toMatchObject({ state: 'BUNDLER_MEMPOOL' })
    expect(await operationByHash(chain().context, hash)).toEqual({
      operation: op,
      entryPoint: chain().entryPoint.address,
      appId: expect.any(String),
      blockHash: undefined,
      blockNumber: undefined,
      transactionHash: undefined,
    })
    await chain().round()
    const [bundle] = await chain().openBundles()
    const transactionHash = bundle!.attempts[0].hash
    expect(await chain().status(hash)).toMatchObject({ state: 'SUBMITTED', transactionHash })
    await chain().settle()
    const status = await chain().status(hash)
    expect(status).toMatchObject({
      state: 'CONFIRMED',
      message: 'Transaction is confirmed',
      transactionHash,
    })
    const { receipt } = await chain().receipt(hash)
    expect(status?.receipt?.receipt).toEqual(receipt)
    const { blockNumber, blockHash } = receipt
    expect(await operationByHash(chain().context, hash)).toMatchObject({
      operation: op,
      blockNumber,
      blockHash,
      transactionHash,
    })
  })

  test('answer for operations of others from the chain, and for unknown ones nothing', async () => {
    const op = chain().operation(await chain().createAccount())
    const hash = chain().entryPoint.hash(op, chain().definition.chainId)
    const unknown: Hex = `0x${'77'.repeat(32)}`
    expect(await chain().status(unknown)).toBeUndefined()
    expect(await operationByHash(chain().context, unknown)).toBeUndefined()
    const { transactionHash } = await chain().carry([op])
    await chain().heads.refresh()
    expect(await chain().receipt(hash)).toMatchObject({
      userOpHash: hash,
      success: true,
      nonce: 0n,
    })
    expect(await operationByHash(chain().context, hash)).toMatchObject({
      operation: op,
      transactionHash,
    })
    expect(await chain().status(hash)).toMatchObject({ state: 'CONFIRMED', transactionHash })
  })
})
