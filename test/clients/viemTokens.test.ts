import { type Address, encodeFunctionData, erc20Abi, type Hex, http, parseUnits } from 'viem'
import { createBundlerClient, createPaymasterClient } from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { describe, expect, test } from 'vitest'
import { devVersions } from '../../src/cli/devnet/devContracts.js'
import { TARGET } from '../support/service/devAccount.js'
import { giveTokens, tokenNamed, tokensOf } from '../support/service/devTokens.js'
import { nodeClient, simpleSmartAccount } from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'

/* viem as it is: createPaymasterClient with a token as context (ERC-7677). */

const info = usePurser()

function payingWith(token: Address) {
  return createBundlerClient({
    chain: foundry,
    client: nodeClient(info()),
    pollingInterval: 100,
    transport: http(info().standardUrl),
    paymaster: createPaymasterClient({ transport: http(info().standardUrl) }),
    paymasterContext: { token },
  })
}

const plain = { to: TARGET, value: 0n, data: '0x1234' as Hex }

function approval(token: Address, spender: Address, amount: bigint) {
  const args = [spender, amount] as const
  return { to: token, data: encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args }) }
}

describe.each(devVersions)('viem, token as context, EntryPoint v%s', (version) => {
  test('pays by an approval in the first operation, then by the allowance that it left', async () => {
    const token = tokenNamed(info(), 'tUSD')
    const account = await simpleSmartAccount(info(), version, `viem token ${version}`)
    await giveTokens(info(), token, account.address, parseUnits('500', 6))
    const tank = info().tokenTanks[version] as Address
    const client = payingWith(token.address)

    for (const call of [approval(token.address, tank, parseUnits('400', 6)), plain]) {
      const [before, held] = [
        await tokensOf(info(), token, account.address),
        await tokensOf(info(), token, tank),
      ]
      const hash = await client.sendUserOperation({ account, calls: [call] })
      const receipt = await client.waitForUserOperationReceipt({ hash })
      expect(receipt.success).toBe(true)
      expect(receipt.paymaster?.toLowerCase()).toBe(tank)
      const paid = before - (await tokensOf(info(), token, account.address))
      expect((await tokensOf(info(), token, tank)) - held).toBe(paid)
      // 3,000 tokens per coin and 5 percent on top: never below what the tank paid.
      const owed = (receipt.actualGasCost * 3_150n * 10n ** 6n) / 10n ** 18n
      expect(paid).toBeGreaterThanOrEqual(owed)
    }
    expect(await nodeClient(info()).getBalance({ address: account.address })).toBe(0n)
  })

  test('without any approval the estimate says what to approve', async () => {
    const token = tokenNamed(info(), 'tCOIN')
    const account = await simpleSmartAccount(info(), version, `viem no approval ${version}`)
    await giveTokens(info(), token, account.address, parseUnits('500', 18))
    await expect(
      payingWith(token.address).sendUserOperation({ account, calls: [plain] }),
    ).rejects.toThrow(/approve the paymaster/)
  })
})
