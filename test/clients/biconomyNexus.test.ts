import {
  type Address,
  type Chain,
  encodeFunctionData,
  erc20Abi,
  type Hex,
  http,
  type LocalAccount,
  numberToHex,
  parseUnits,
  type Transport,
} from 'viem'
import { InsufficientPrefundError, type SmartAccount } from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { beforeAll, describe, expect, test } from 'vitest'
import { keyFromSeed } from '../../src/cli/devnet/simpleAccount.js'
import { causesOf } from '../support/causesOf.js'
import { placeNexusContracts } from '../support/chain/nexusAccounts.js'
import { TARGET } from '../support/service/devAccount.js'
import { giveTokens, tokenNamed, tokensOf } from '../support/service/devTokens.js'
import { fund, nodeClient } from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'

type Calls = readonly { to: Address; value?: bigint; data?: Hex }[]

/** What the tests use of either SDK's client. */
type Client = {
  readonly account: SmartAccount
  sendUserOperation(operation: { calls: Calls }): Promise<Hex>
  sendTokenPaymasterUserOp(operation: { calls: Calls; feeTokenAddress: Address }): Promise<Hex>
  prepareUserOperation(operation: { calls: Calls }): Promise<unknown>
  waitForUserOperationReceipt(of: { hash: Hex }): Promise<{
    readonly success: boolean
    readonly paymaster?: Address
    readonly actualGasCost: bigint
  }>
}

type FeeQuote = {
  readonly symbol: string
  readonly tokenAddress: Address
  readonly maxGasFee: number
}

/** What the tests use of either SDK's paymaster client. */
type PaymasterClient = {
  getSupportedTokens(client: Client): Promise<readonly FeeQuote[]>
  getTokenPaymasterQuotes(asked: {
    userOp: unknown
    tokenList: readonly Address[]
  }): Promise<{ paymasterAddress: Address; feeQuotes: readonly FeeQuote[] }>
}

/** How a client pays: by itself where it has no paymaster, else as the context says. */
type Payment = { readonly paymaster?: PaymasterClient; readonly paymasterContext?: unknown }

type CommonOptions = Payment & { readonly chain: Chain; readonly pollingInterval: number }

type PaymasterFactory = {
  createBicoPaymasterClient(options: { readonly paymasterUrl: string }): PaymasterClient
  toBiconomyTokenPaymasterContext(options: { readonly feeTokenAddress: Address }): unknown
}

/** What the tests use of @biconomy/sdk. */
type Sdk = PaymasterFactory & {
  readonly MAINNET_ADDRESS_K1_VALIDATOR_FACTORY_ADDRESS: string
  createSmartAccountClient(
    options: CommonOptions & {
      readonly signer: LocalAccount
      readonly transport: Transport
      readonly bundlerTransport: Transport
    },
  ): Promise<Client>
}

type MeeVersion = { readonly factoryAddress: string; readonly implementationAddress: string }

/** What the tests use of @biconomy/abstractjs. */
type Abstractjs = PaymasterFactory & {
  getMEEVersion(version: string): MeeVersion
  toNexusAccount(options: {
    readonly signer: LocalAccount
    readonly chainConfiguration: {
      readonly chain: Chain
      readonly transport: Transport
      readonly version: MeeVersion
      readonly versionCheck: boolean
    }
    readonly initData: Hex
  }): Promise<SmartAccount>
  createSmartAccountClient(
    options: CommonOptions & { readonly account: SmartAccount; readonly transport: Transport },
  ): Client
}

/**
 * Loads the SDK as it is, without its declarations: they make viem's Address a mere string in the
 * whole program.
 */
async function load<Module>(name: string): Promise<Module> {
  return (await import(/* @vite-ignore */ name)) as Module
}

const sdk = await load<Sdk>('@biconomy/sdk')
const abstractjs = await load<Abstractjs>('@biconomy/abstractjs')
const info = usePurser()
const meeVersion = abstractjs.getMEEVersion('2.1.0')

beforeAll(() =>
  placeNexusContracts(info().rpcUrl, {
    ownerFactory: sdk.MAINNET_ADDRESS_K1_VALIDATOR_FACTORY_ADDRESS,
    initDataFactory: meeVersion.factoryAddress,
    implementation: meeVersion.implementationAddress,
  }),
)

/** The hosted services have bundlers at v3 and paymasters at v2, so that is what these have here. */
async function openSdk(seed: string, payment: Payment = {}): Promise<Client> {
  const { rpcUrl, standardUrl } = info()
  return sdk.createSmartAccountClient({
    signer: privateKeyToAccount(keyFromSeed(`sdk ${seed}`)),
    chain: foundry,
    transport: http(rpcUrl),
    bundlerTransport: http(standardUrl),
    pollingInterval: 100,
    ...payment,
  })
}

async function openAbstractjs(seed: string, payment: Payment = {}): Promise<Client> {
  const { rpcUrl, standardUrl } = info()
  const signer = privateKeyToAccount(keyFromSeed(`abstractjs ${seed}`))
  const account = await abstractjs.toNexusAccount({
    signer,
    chainConfiguration: {
      chain: foundry,
      transport: http(rpcUrl),
      version: meeVersion,
      versionCheck: false,
    },
    initData: signer.address,
  })
  return abstractjs.createSmartAccountClient({
    account,
    chain: foundry,
    transport: http(standardUrl),
    pollingInterval: 100,
    ...payment,
  })
}

const sdks = [
  ['@biconomy/sdk 0.0.29', sdk, openSdk],
  ['@biconomy/abstractjs 1.2.3', abstractjs, openAbstractjs],
] as const

function paymasterOf(factory: PaymasterFactory): PaymasterClient {
  return factory.createBicoPaymasterClient({ paymasterUrl: info().bundlerUrl })
}

describe.each(sdks)('%s, EntryPoint v0.7', (_, factory, open) => {
  test('sends sponsored operations, the first creating the account', async () => {
    const client = await open('sponsored', { paymaster: paymasterOf(factory) })
    for (const data of ['0x1234', '0x5678'] as const) {
      const hash = await client.sendUserOperation({ calls: [{ to: TARGET, data }] })
      const receipt = await client.waitForUserOperationReceipt({ hash })
      expect(receipt.success).toBe(true)
      expect(receipt.paymaster?.toLowerCase()).toBe(info().tanks['0.7'])
    }
    const { address } = client.account
    expect(await client.account.isDeployed()).toBe(true)
    expect(await nodeClient(info()).getBalance({ address })).toBe(0n)
  })

  test('sends a self-paid batch', async () => {
    const client = await open('self-paid')
    await fund(info(), client.account.address)
    const targets = ['d1', 'd2'].map(
      (end): Address => `0x${client.account.address.slice(2, 40).toLowerCase()}${end}`,
    )
    const hash = await client.sendUserOperation({ calls: targets.map((to) => ({ to, value: 3n })) })
    const receipt = await client.waitForUserOperationReceipt({ hash })
    expect(receipt.success).toBe(true)
    // abstractjs races two of its own polls, and one of them answers with what came over the wire.
    expect(BigInt(receipt.actualGasCost)).toBeGreaterThan(0n)
    for (const address of targets) {
      expect(await nodeClient(info()).getBalance({ address })).toBe(3n)
    }
  })

  test('shows the typed error for an account without money', async () => {
    const client = await open('poor')
    const sending = client.sendUserOperation({ calls: [{ to: TARGET, data: '0x' }] })
    const error = await sending.catch((each) => each)
    expect(causesOf(error).some((each) => each instanceof InsufficientPrefundError)).toBe(true)
  })
})

describe.each(sdks)('%s in tokens, EntryPoint v0.7', (_, factory, open) => {
  /** A client that pays in tUSD, of which its new account has 100; and one that pays for itself. */
  async function openWithTokens(seed: string) {
    const token = tokenNamed(info(), 'tUSD')
    const paymaster = paymasterOf(factory)
    const paymasterContext = factory.toBiconomyTokenPaymasterContext({
      feeTokenAddress: token.address,
    })
    const client = await open(seed, { paymaster, paymasterContext })
    await giveTokens(info(), token, client.account.address, parseUnits('100', 6))
    return { token, paymaster, client, unpaid: await open(seed) }
  }

  test('quotes, approves and pays in tokens, then by the approval that stands', async () => {
    const { token, paymaster, client, unpaid } = await openWithTokens('tokens')
    const { address } = client.account
    const call = { to: TARGET, data: '0x1234' } as const
    const userOp = await unpaid.prepareUserOperation({ calls: [call] })
    const { paymasterAddress, feeQuotes } = await paymaster.getTokenPaymasterQuotes({
      userOp,
      tokenList: [token.address],
    })
    expect(paymasterAddress.toLowerCase()).toBe(info().tokenTanks['0.7'])
    expect(feeQuotes.map(({ symbol }) => symbol)).toEqual(['tUSD'])

    const args = [paymasterAddress, parseUnits('50', 6)] as const
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
    const sends = [
      () => client.sendUserOperation({ calls: [{ to: token.address, data }, call] }),
      () => client.sendUserOperation({ calls: [call] }),
      () => client.sendTokenPaymasterUserOp({ calls: [call], feeTokenAddress: token.address }),
    ]
    for (const sendNext of sends) {
      const before = await tokensOf(info(), token, address)
      const receipt = await client.waitForUserOperationReceipt({ hash: await sendNext() })
      expect(receipt.success).toBe(true)
      expect(receipt.paymaster?.toLowerCase()).toBe(info().tokenTanks['0.7'])
      expect(await tokensOf(info(), token, address)).toBeLessThan(before)
    }
    expect(await nodeClient(info()).getBalance({ address })).toBe(0n)
    const supported = await paymaster.getSupportedTokens(client)
    expect(supported.map(({ symbol }) => symbol).sort()).toEqual(['tCOIN', 'tUSD'])
  })

  test('gets an error when the SDK approved another paymaster', async () => {
    const { token, client } = await openWithTokens('unapproved')
    const calls = [{ to: TARGET, data: '0x1234' }] as const
    await expect(
      client.sendTokenPaymasterUserOp({ calls, feeTokenAddress: token.address }),
    ).rejects.toThrow(/may take 0 tUSD of the sender. Add a call to the operation that approves it/)
    expect(await tokensOf(info(), token, client.account.address)).toBe(parseUnits('100', 6))
  })
})

/*
 * One operation in five has a zero byte in the tank's signature, which costs less calldata: only many operations show that
 * estimates and signatures agree. The SDKs send one after the other.
 */

describe('50 operations of each SDK', () => {
  const rounds = Array.from({ length: 10 }, (_, at) => at)
  const accounts = ['a', 'b', 'c', 'd', 'e']

  test.each(sdks)('%s: sponsored', { timeout: 300_000 }, async (_, factory, open) => {
    const run = async (seed: string) => {
      const client = await open(`many ${seed}`, { paymaster: paymasterOf(factory) })
      for (const round of rounds) {
        const hash = await client.sendUserOperation({
          calls: [{ to: TARGET, data: numberToHex(round, { size: 4 }) }],
        })
        expect((await client.waitForUserOperationReceipt({ hash })).success).toBe(true)
      }
    }
    await Promise.all(accounts.map(run))
  })

  test.each(sdks)('%s: in tokens', { timeout: 300_000 }, async (_, factory, open) => {
    const token = tokenNamed(info(), 'tUSD')
    const payment = {
      paymaster: paymasterOf(factory),
      paymasterContext: factory.toBiconomyTokenPaymasterContext({ feeTokenAddress: token.address }),
    }
    const clients = await Promise.all(accounts.map((seed) => open(`many tokens ${seed}`, payment)))
    for (const { account } of clients)
      await giveTokens(info(), token, account.address, parseUnits('100', 6))
    const args = [info().tokenTanks['0.7'] as Address, parseUnits('90', 6)] as const
    const data = encodeFunctionData({ abi: erc20Abi, functionName: 'approve', args })
    const run = async (client: Client) => {
      for (const round of rounds) {
        const call = { to: TARGET, data: numberToHex(round, { size: 4 }) }
        const calls = round === 0 ? [{ to: token.address, data }, call] : [call]
        const hash = await client.sendUserOperation({ calls })
        expect((await client.waitForUserOperationReceipt({ hash })).success).toBe(true)
      }
    }
    await Promise.all(clients.map(run))
  })
})
