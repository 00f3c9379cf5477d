import { createSmartAccountClient } from 'permissionless'
import { toSimpleSmartAccount } from 'permissionless/accounts'
import { createPimlicoClient } from 'permissionless/clients/pimlico'
import { type Address, http, parseEther, webSocket } from 'viem'
import { InsufficientPrefundError, type SmartAccount } from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { describe, expect, test } from 'vitest'
import { keyFromSeed } from '../../src/cli/devnet/simpleAccount.js'
import { causesOf } from '../support/causesOf.js'
import { TARGET } from '../support/service/devAccount.js'
import { authorizationOf, fund, nodeClient } from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'

const info = usePurser()

/** What permissionless knows; its factories are at the same addresses on every chain. */
const versions = ['0.6', '0.7', '0.8'] as const
type Known = (typeof versions)[number]

function entryPointOf(version: Known) {
  return {
    address: info().entryPoints[version] as Address,
    version,
  }
}

function open(version: Known, seed: string) {
  return toSimpleSmartAccount({
    client: nodeClient(info()),
    owner: privateKeyToAccount(keyFromSeed(`permissionless ${version} ${seed}`)),
    entryPoint: entryPointOf(version),
  })
}

function paymasterOf(version: Known) {
  return createPimlicoClient({
    transport: http(info().standardUrl),
    entryPoint: entryPointOf(version),
  })
}

function options() {
  return {
    chain: foundry,
    client: nodeClient(info()),
    bundlerTransport: http(info().standardUrl),
    pollingInterval: 100,
  }
}

describe.each(versions)('permissionless, SimpleAccount, EntryPoint v%s', (version) => {
  test('sends sponsored transactions, the first creating the account', async () => {
    const account = await open(version, 'sponsored')
    const client = createSmartAccountClient({
      account,
      ...options(),
      paymaster: paymasterOf(version),
    })
    for (const data of ['0x1234', '0x5678'] as const) {
      const hash = await client.sendTransaction({ to: TARGET, data })
      const receipt = await nodeClient(info()).getTransactionReceipt({ hash })
      expect(receipt.status).toBe('success')
    }
    expect(await account.isDeployed()).toBe(true)
    expect(await nodeClient(info()).getBalance({ address: account.address })).toBe(0n)
  })

  test('sends a self-paid batch and reads its receipt', async () => {
    const account = await open(version, 'self-paid')
    await fund(info(), account.address)
    const client = createSmartAccountClient({ account, ...options() })
    // The batch of v0.6 moves no value.
    const value = version === '0.6' ? 0n : 7n
    const targets: readonly Address[] = [`0x${version.slice(2)}${'b1'.repeat(19)}1`, TARGET]
    const hash = await client.sendUserOperation({ calls: targets.map((to) => ({ to, value })) })
    const receipt = await client.waitForUserOperationReceipt({ hash })
    expect(receipt.success).toBe(true)
    expect(receipt.actualGasCost).toBeGreaterThan(0n)
    expect(receipt.actualGasCost).toBeLessThan(parseEther('1'))
    expect(await nodeClient(info()).getBalance({ address: targets[0]! })).toBe(value)
  })

  test('has an operation sponsored with its limits in one request', async () => {
    const account = await open(version, 'in one request')
    const client = createSmartAccountClient({ account, ...options() })
    const drafted = await client.prepareUserOperation({
      calls: [{ to: TARGET, data: '0x1234' }],
      parameters: ['factory', 'fees', 'nonce', 'signature'],
    })
    const paymaster = paymasterOf(version)
    const sponsored = await paymaster.sponsorUserOperation({ userOperation: drafted as never })
    const operation = { ...drafted, ...sponsored }
    const signature = await account.signUserOperation(operation as never)
    const hash = await client.sendUserOperation({ ...operation, signature } as never)
    const receipt = await client.waitForUserOperationReceipt({ hash })
    expect(receipt.success).toBe(true)
    expect(receipt.paymaster?.toLowerCase()).toBe(info().tanks[version])
  })

  test('shows why a sponsorship was refused', async () => {
    const account = await open(version, 'refused')
    const client = createSmartAccountClient({ account, ...options() })
    const drafted = await client.prepareUserOperation({
      calls: [{ to: TARGET, data: '0x1234' }],
      parameters: ['factory', 'nonce', 'signature'],
      maxFeePerGas: parseEther('1'),
      maxPriorityFeePerGas: 1n,
    })
    const asking = paymasterOf(version).sponsorUserOperation({ userOperation: drafted as never })
    await expect(asking).rejects.toThrow(/maxFeePerGas is \d+ wei. A sponsored operation may bid/)
  })

  test('shows the typed error for an account without money', async () => {
    const account = await open(version, 'poor')
    const client = createSmartAccountClient({ account, ...options() })
    const error = await client.sendTransaction({ to: TARGET, data: '0x' }).catch((each) => each)
    expect(causesOf(error).some((each) => each instanceof InsufficientPrefundError)).toBe(true)
  })
})

test('permissionless, Simple7702Account, EntryPoint v0.8: a plain key is delegated by its first operation', async () => {
  const account = await toSimpleSmartAccount({
    client: nodeClient(info()),
    owner: privateKeyToAccount(keyFromSeed('permissionless 7702')),
    // Its default for such an account: EntryPoint v0.8.
    eip7702: true,
  })
  const client = createSmartAccountClient({
    account,
    ...options(),
    paymaster: paymasterOf('0.8'),
  })
  const calls = [{ to: TARGET, data: '0x1234' }] as const
  const authorized = await authorizationOf(account as SmartAccount)
  const first = await client.sendUserOperation({ calls, ...authorized })
  expect((await client.waitForUserOperationReceipt({ hash: first })).success).toBe(true)
  expect(await account.isDeployed()).toBe(true)
  const second = await client.sendUserOperation({ calls })
  expect((await client.waitForUserOperationReceipt({ hash: second })).success).toBe(true)
  expect(await nodeClient(info()).getBalance({ address: account.address })).toBe(0n)
})

test('permissionless works over a WebSocket as it does over HTTP', async () => {
  const version = '0.7'
  const url = info().standardUrl.replace(/^http/, 'ws')
  const transport = webSocket(url, { reconnect: false })
  const paymaster = createPimlicoClient({ transport, entryPoint: entryPointOf(version) })
  const account = await open(version, 'socket')
  const client = createSmartAccountClient({
    ...options(),
    account,
    bundlerTransport: transport,
    paymaster,
    userOperation: {
      estimateFeesPerGas: async () => (await paymaster.getUserOperationGasPrice()).fast,
    },
  })
  const hash = await client.sendUserOperation({ calls: [{ to: TARGET, data: '0x1234' }] })
  const { success, sender } = await client.waitForUserOperationReceipt({ hash })
  expect([success, sender.toLowerCase()]).toEqual([true, account.address.toLowerCase()])
  for (const { transport: own } of [client, paymaster])
    await (own as unknown as Socket).getRpcClient().then((socket) => socket.close())
})

/** What viem adds to a transport over a socket. */
type Socket = { readonly getRpcClient: () => Promise<{ readonly close: () => void }> }
