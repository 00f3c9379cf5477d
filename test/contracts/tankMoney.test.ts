import { type BaseError, encodeFunctionData, parseEther } from 'viem'
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { abi as tankAbi } from '../../src/chain/contracts/generated/Tank06.js'
import { fundAccount } from '../../src/cli/devnet/fundAccount.js'
import {
  OWNER_KEY,
  revertReasonOf,
  SIGNER_A,
  SIGNER_B,
  TARGET,
  VERSIONS,
} from '../support/world/versionChain.js'
import { useVersionChain } from '../support/world.js'

describe.each(VERSIONS)('the money of a tank on EntryPoint v%s', (version) => {
  const chain = useVersionChain(version)

  beforeAll(async () => {
    await fundAccount(chain().anvil.url, privateKeyToAddress(OWNER_KEY), parseEther('1'))
  })

  afterAll(() => chain().anvil.stop())

  const withdrawal = (wei: bigint) =>
    encodeFunctionData({ abi: tankAbi, functionName: 'withdrawTo', args: [TARGET, wei] })

  const withdrawAsOwner = async (tank: `0x${string}`, wei: bigint) => {
    const account = privateKeyToAccount(OWNER_KEY)
    const hash = await chain().wallet.sendTransaction({ account, to: tank, data: withdrawal(wei) })
    return chain().wallet.waitForTransactionReceipt({ hash })
  }

  test('the owner withdraws exactly what is asked', async () => {
    const tank = await chain().createTank(0, { wei: 1000n })
    const before = await chain().wallet.getBalance({ address: TARGET })
    await withdrawAsOwner(tank, 400n)
    expect(await chain().wallet.getBalance({ address: TARGET })).toBe(before + 400n)
    expect(await chain().depositOf(tank)).toBe(600n)
  })

  test('nobody else withdraws, neither signer nor EntryPoint', async () => {
    const tank = await chain().createTank(1, { wei: 1000n })
    const others = [privateKeyToAddress(SIGNER_A), privateKeyToAddress(SIGNER_B)]
    for (const account of [...others, chain().entryPoint.address, tank]) {
      const failure = await chain()
        .wallet.call({ account, to: tank, data: withdrawal(1n) })
        .catch((error: BaseError) => revertReasonOf(error))
      expect(failure).toBe('Tank: only the owner')
    }
    expect(await chain().depositOf(tank)).toBe(1000n)
  })

  test('the owner cannot withdraw more than the deposit', async () => {
    const tank = await chain().createTank(2, { wei: 1000n })
    await expect(withdrawAsOwner(tank, 1001n)).rejects.toThrow(/reverted/)
    expect(await chain().depositOf(tank)).toBe(1000n)
  })

  test('a plain transfer and deposit() both fill the tank', async () => {
    const tank = await chain().createTank(3, { wei: 0n })
    await chain().transact(tank, '0x', 70n)
    expect(await chain().depositOf(tank)).toBe(70n)
    const data = encodeFunctionData({ abi: tankAbi, functionName: 'deposit' })
    await chain().transact(tank, data, 7n)
    expect(await chain().depositOf(tank)).toBe(77n)
    expect(await chain().wallet.getBalance({ address: tank })).toBe(0n)
  })

  test('ether sent before the tank existed becomes deposit', async () => {
    const predicted = await chain().predictTank(4)
    await fundAccount(chain().anvil.url, predicted, 500n)
    const tank = await chain().createTank(4, { wei: 0n })
    expect(tank).toBe(predicted)
    await chain().transact(tank, encodeFunctionData({ abi: tankAbi, functionName: 'deposit' }))
    expect(await chain().depositOf(tank)).toBe(500n)
  })
})
