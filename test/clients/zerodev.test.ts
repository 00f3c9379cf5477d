import { signerToEcdsaValidator } from '@zerodev/ecdsa-validator'
import {
  createKernelAccount,
  createKernelAccountClient,
  createZeroDevPaymasterClient,
} from '@zerodev/sdk'
import { getEntryPoint, KERNEL_V3_1 } from '@zerodev/sdk/constants'
import { type Address, encodeFunctionData, erc20Abi, type Hex, http, parseUnits } from 'viem'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { beforeAll, describe, expect, test } from 'vitest'
import { keyFromSeed } from '../../src/cli/devnet/simpleAccount.js'
import { TARGET } from '../support/service/devAccount.js'
import { giveTokens, tokenNamed, tokensOf } from '../support/service/devTokens.js'
import { fund, nodeClient } from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'
import { placeKernel } from './support/placeKernel.js'

/* A user of ZeroDev who changes the URL: its clients as its documentation makes them, with Kernel 3.1. */

const info = usePurser()
beforeAll(() => placeKernel(info().rpcUrl))

const call = { to: TARGET, value: 0n, data: '0x1234' } as const

async function open(seed: string) {
  const client = nodeClient(info())
  const entryPoint = getEntryPoint('0.7')
  const kernelVersion = KERNEL_V3_1
  const signer = privateKeyToAccount(keyFromSeed(`zerodev ${seed}`))
  const sudo = await signerToEcdsaValidator(client, { signer, entryPoint, kernelVersion })
  return createKernelAccount(client, { entryPoint, kernelVersion, plugins: { sudo } })
}

function paymasterOf() {
  return createZeroDevPaymasterClient({ chain: foundry, transport: http(info().standardUrl) })
}

async function clientOf(seed: string, settings: object) {
  return createKernelAccountClient({
    account: await open(seed),
    chain: foundry,
    bundlerTransport: http(info().standardUrl),
    client: nodeClient(info()),
    pollingInterval: 100,
    ...settings,
  })
}

/** The paymaster of the documentation: it answers stub and data alike, by zd_sponsorUserOperation. */
function sponsorBy(options: { readonly gasToken?: Hex } = {}) {
  const paymaster = paymasterOf()
  return {
    paymaster: {
      getPaymasterData: (userOperation: never) =>
        paymaster.sponsorUserOperation({ userOperation, ...options }),
    },
  }
}

describe('ZeroDev, Kernel 3.1, EntryPoint v0.7', () => {
  test('pays for itself at the gas price that every client asks for', async () => {
    const client = await clientOf('self-paid', {})
    await fund(info(), client.account.address)
    const hash = await client.sendUserOperation({ calls: [call] })
    const receipt = await client.waitForUserOperationReceipt({ hash })
    expect(receipt.success).toBe(true)
    expect(receipt.actualGasCost).toBeGreaterThan(0n)
  })

  test('its paymaster client sponsors the first operation and the second', async () => {
    const client = await clientOf('sponsored', sponsorBy())
    for (const _ of ['creating', 'created']) {
      const hash = await client.sendUserOperation({ calls: [call, call] })
      const receipt = await client.waitForUserOperationReceipt({ hash })
      expect(receipt.success).toBe(true)
      expect(receipt.paymaster?.toLowerCase()).toBe(info().tanks['0.7'])
    }
    expect(await nodeClient(info()).getBalance({ address: client.account.address })).toBe(0n)
  })

  test('its paymaster client as it is, by ERC-7677', async () => {
    const client = await clientOf('erc-7677', { paymaster: paymasterOf() })
    const hash = await client.sendUserOperation({ calls: [call] })
    const receipt = await client.waitForUserOperationReceipt({ hash })
    expect(receipt.success).toBe(true)
    expect(receipt.paymaster?.toLowerCase()).toBe(info().tanks['0.7'])
  })

  test('tokens pay, after an approval, and cost no more than its client showed', async () => {
    const token = tokenNamed(info(), 'tUSD')
    const client = await clientOf('tokens', sponsorBy({ gasToken: token.address }))
    const { address } = client.account
    await giveTokens(info(), token, address, parseUnits('500', 6))
    const spender = info().tokenTanks['0.7'] as Address
    const args = [spender, parseUnits('400', 6)] as const
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
    const calls = [{ to: token.address, value: 0n, data }, call]
    const shown = await paymasterOf().estimateGasInERC20({
      userOperation: (await (
        await clientOf('tokens', {})
      ).prepareUserOperation({
        calls,
        parameters: ['factory', 'fees', 'nonce', 'signature'],
      })) as never,
      gasTokenAddress: token.address,
      entryPoint: getEntryPoint('0.7').address,
    })
    const hash = await client.sendUserOperation({ calls })
    const receipt = await client.waitForUserOperationReceipt({ hash })
    expect(receipt.success).toBe(true)
    expect(receipt.paymaster?.toLowerCase()).toBe(spender)
    const left = await tokensOf(info(), token, address)
    const paid = Number(parseUnits('500', 6) - left) / 1e6
    expect(paid).toBeGreaterThan(0)
    expect(paid).toBeLessThanOrEqual(shown.amount)
  })

  test('a refusal is the error that its client throws', async () => {
    const client = await clientOf('refused', sponsorBy())
    const sending = client.sendUserOperation({
      calls: [call],
      maxFeePerGas: 10n ** 18n,
      maxPriorityFeePerGas: 1n,
    })
    await expect(sending).rejects.toThrow(/A sponsored operation may bid/)
  })
})
