import { type Address, type BaseError, encodeFunctionData, type Hex, parseEther } from 'viem'
import { privateKeyToAccount, privateKeyToAddress } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { abi } from '../../src/chain/contracts/generated/TokenTank06.js'
import { anvilClient } from '../../src/cli/devnet/anvilClient.js'
import { fundAccount } from '../../src/cli/devnet/fundAccount.js'
import { useTokenTankChain } from '../support/tanks/tokenTankChain.js'
import {
  OWNER_KEY,
  revertReasonOf,
  SIGNER_A,
  TARGET,
  VERSIONS,
} from '../support/world/versionChain.js'

describe.each(VERSIONS)('the money of a token tank on EntryPoint v%s', (version) => {
  const chain = useTokenTankChain(version)
  let tank: Address

  beforeAll(async () => {
    tank = await chain().createTokenTank(0, 1000n)
    await fundAccount(chain().anvil.url, privateKeyToAddress(OWNER_KEY), parseEther('2'))
  })

  afterAll(() => chain().anvil.stop())

  const asOwner = async (data: Hex, value = 0n) => {
    const account = privateKeyToAccount(OWNER_KEY)
    const hash = await chain().wallet.sendTransaction({ account, to: tank, data, value })
    return chain().wallet.waitForTransactionReceipt({ hash })
  }

  const withdrawal = (token: Address, amount: bigint) =>
    encodeFunctionData({ abi, functionName: 'withdrawToken', args: [token, TARGET, amount] })

  test('the owner withdraws tokens, also of a kind that answers nothing', async () => {
    for (const token of [chain().tokens[0]!.address, await chain().deployOdd('SilentToken')]) {
      await chain().mint(token, tank, 70n)
      await asOwner(withdrawal(token, 30n))
      expect(await chain().balanceOf(token, TARGET)).toBe(30n)
      expect(await chain().balanceOf(token, tank)).toBe(40n)
      await expect(asOwner(withdrawal(token, 41n))).rejects.toThrow('Tank: the token refused')
    }
  })

  test('the owner withdraws the deposit', async () => {
    const args = [TARGET, 400n] as const
    await asOwner(encodeFunctionData({ abi, functionName: 'withdrawTo', args }))
    expect(await chain().depositOf(tank)).toBe(600n)
  })

  test('the owner stakes, unlocks and withdraws the stake', async () => {
    const stake = encodeFunctionData({ abi, functionName: 'addStake', args: [60] })
    await asOwner(stake, parseEther('1'))
    await asOwner(encodeFunctionData({ abi, functionName: 'unlockStake' }))
    const withdraw = encodeFunctionData({ abi, functionName: 'withdrawStake', args: [TARGET] })
    await expect(asOwner(withdraw)).rejects.toThrow()
    const anvil = anvilClient(chain().anvil.url)
    await anvil.increaseTime({ seconds: 61 })
    await anvil.mine({ blocks: 1 })
    const before = await chain().wallet.getBalance({ address: TARGET })
    await asOwner(withdraw)
    expect(await chain().wallet.getBalance({ address: TARGET })).toBe(before + parseEther('1'))
  })

  test('nobody else does any of it', async () => {
    const calls = [
      withdrawal(chain().tokens[0]!.address, 1n),
      encodeFunctionData({ abi, functionName: 'withdrawTo', args: [TARGET, 1n] }),
      encodeFunctionData({ abi, functionName: 'addStake', args: [60] }),
      encodeFunctionData({ abi, functionName: 'unlockStake' }),
      encodeFunctionData({ abi, functionName: 'withdrawStake', args: [TARGET] }),
    ]
    for (const data of calls) {
      for (const account of [privateKeyToAddress(SIGNER_A), chain().entryPoint.address, tank]) {
        const failure = await chain()
          .wallet.call({ account, to: tank, data })
          .catch((error: BaseError) => revertReasonOf(error))
        expect(failure).toBe('Tank: only the owner')
      }
    }
  })
})
