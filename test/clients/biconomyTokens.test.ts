import {
  type BiconomySmartAccountV2,
  createBundler,
  createSmartAccountClient,
  getCustomChain,
  PaymasterMode,
} from '@biconomy/account'
import {
  type Address,
  createWalletClient,
  encodeFunctionData,
  erc20Abi,
  http,
  parseUnits,
} from 'viem'
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { placeBiconomyContracts } from '../../src/cli/devnet/biconomyContracts.js'
import { giveTokens, tokenNamed, tokensOf } from '../support/service/devTokens.js'
import { nodeClient } from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'

/* The unmodified SDK from npm pays for its gas with tokens of the development chain. */

const TARGET: Address = '0x00000000000000000000000000000000000a11ce'
const info = usePurser()

/** The SDK looks up errors in a catalogue outside, of which it gets an empty one. */
const CATALOGUE = 'https://raw.githubusercontent.com/bcnmy/aa-errors/main/docs/errors.json'
const realFetch = globalThis.fetch

beforeAll(async () => {
  globalThis.fetch = (input, init) =>
    String(input) === CATALOGUE ? Promise.resolve(Response.json([])) : realFetch(input, init)
  await placeBiconomyContracts(info().rpcUrl)
})

afterAll(() => {
  globalThis.fetch = realFetch
})

/** An account of a new key, without ether and without code. */
async function newAccount(): Promise<{ client: BiconomySmartAccountV2; sender: Address }> {
  const { bundlerUrl, paymasterUrl, rpcUrl } = info()
  const chain = getCustomChain('local', 31_337, rpcUrl, 'http://127.0.0.1')
  const signer = createWalletClient({
    account: privateKeyToAccount(generatePrivateKey()),
    chain,
    transport: http(rpcUrl),
  })
  const bundler = await createBundler({
    bundlerUrl,
    customChain: chain,
    userOpReceiptIntervals: { 31337: 200 },
    userOpWaitForTxHashIntervals: { 31337: 100 },
  })
  const client = await createSmartAccountClient({
    signer,
    bundler,
    rpcUrl,
    customChain: chain,
    paymasterUrl,
  })
  return { client, sender: await client.getAccountAddress() }
}

const call = { to: TARGET, data: '0x1234' } as const

async function quoteFor(client: BiconomySmartAccountV2, symbol: string) {
  const paymasterServiceData = { mode: PaymasterMode.ERC20, tokenList: [] }
  const { feeQuotes, tokenPaymasterAddress } = await client.getTokenFees(call, {
    paymasterServiceData,
  })
  const feeQuote = feeQuotes?.find((each) => each.symbol === symbol)
  if (feeQuote === undefined || tokenPaymasterAddress === undefined)
    throw new Error(`no quote in ${symbol}`)
  return { feeQuote, spender: tokenPaymasterAddress as Address }
}

describe('@biconomy/account 4.6.3 in mode ERC20', () => {
  test('asks for quotes, picks a token, and pays by an approval in the operation', async () => {
    const { client, sender } = await newAccount()
    const token = tokenNamed(info(), 'tUSD')
    await giveTokens(info(), token, sender, parseUnits('100', 6))
    const { feeQuote, spender } = await quoteFor(client, 'tUSD')
    expect(spender.toLowerCase()).toBe(info().tokenTanks['0.6'])
    expect(feeQuote.tokenAddress.toLowerCase()).toBe(token.address)
    expect(feeQuote.premiumPercentage).toBe('5')

    const response = await client.sendTransaction(call, {
      paymasterServiceData: { mode: PaymasterMode.ERC20, feeQuote, spender },
    })
    const receipt = await response.wait()
    expect(receipt.success).toBe('true')
    expect(receipt.paymaster.toLowerCase()).toBe(info().tokenTanks['0.6'])
    const paid = parseUnits('100', 6) - (await tokensOf(info(), token, sender))
    expect(paid).toBeGreaterThan(0n)
    expect(Number(paid)).toBeLessThanOrEqual(feeQuote.maxGasFee * 10 ** 6)
    expect(await nodeClient(info()).getBalance({ address: sender })).toBe(0n)
  })

  test('pays with the other token by an approval that stands', async () => {
    const { client, sender } = await newAccount()
    const token = tokenNamed(info(), 'tCOIN')
    await giveTokens(info(), token, sender, parseUnits('100', 18))
    const { feeQuote, spender } = await quoteFor(client, 'tCOIN')
    const paymasterServiceData = { mode: PaymasterMode.ERC20, feeQuote, spender }
    const first = await client.sendTransaction(call, {
      paymasterServiceData: { ...paymasterServiceData, maxApproval: true },
    })
    expect((await first.wait()).success).toBe('true')
    const before = await tokensOf(info(), token, sender)
    const second = await client.sendTransaction(call, {
      paymasterServiceData: { mode: PaymasterMode.ERC20, preferredToken: token.address },
    })
    expect((await second.wait()).success).toBe('true')
    expect(await tokensOf(info(), token, sender)).toBeLessThan(before)
  })

  test('hears what to do when the sender has too few tokens', async () => {
    const { client, sender } = await newAccount()
    const token = tokenNamed(info(), 'tUSD')
    await giveTokens(info(), token, sender, 1_000n)
    const { feeQuote, spender } = await quoteFor(client, 'tUSD')
    await expect(
      client.sendTransaction(call, {
        paymasterServiceData: { mode: PaymasterMode.ERC20, feeQuote, spender },
      }),
    ).rejects.toThrow(/the sender has 0\.001 tUSD/)
  })

  test('is not charged in tokens that the operation itself spends', async () => {
    const { client, sender } = await newAccount()
    const token = tokenNamed(info(), 'tUSD')
    await giveTokens(info(), token, sender, parseUnits('100', 6))
    const { feeQuote, spender } = await quoteFor(client, 'tUSD')
    const args = [TARGET, parseUnits('100', 6)] as const
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'transfer', args })
    await expect(
      client.sendTransaction(
        { to: token.address, data },
        { paymasterServiceData: { mode: PaymasterMode.ERC20, feeQuote, spender } },
      ),
    ).rejects.toThrow(/could not take its charge/)
    expect(await tokensOf(info(), token, sender)).toBe(parseUnits('100', 6))
  })
})
