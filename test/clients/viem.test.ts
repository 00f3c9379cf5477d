import { type Hex, http } from 'viem'
import {
  createBundlerClient,
  createPaymasterClient,
  InsufficientPrefundError,
  type SmartAccount,
  type UserOperation,
  UserOperationSignatureError,
} from 'viem/account-abstraction'
import { foundry } from 'viem/chains'
import { describe, expect, test } from 'vitest'
import { devVersions } from '../../src/cli/devnet/devContracts.js'
import type { Version } from '../../src/erc4337/entryPoint.js'
import { causesOf } from '../support/causesOf.js'
import type { Json } from '../support/http/jsonRpc.js'
import { TARGET } from '../support/service/devAccount.js'
import { tokenNamed } from '../support/service/devTokens.js'
import {
  authorizationOf,
  delegatedSmartAccount,
  fund,
  nodeClient,
  simpleSmartAccount,
} from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'

const info = usePurser()

function bundler() {
  return createBundlerClient({
    chain: foundry,
    client: nodeClient(info()),
    pollingInterval: 100,
    transport: http(info().standardUrl),
  })
}

function sponsoredBundler() {
  return createBundlerClient({
    chain: foundry,
    client: nodeClient(info()),
    pollingInterval: 100,
    transport: http(info().standardUrl),
    paymaster: createPaymasterClient({ transport: http(info().standardUrl) }),
    paymasterContext: { mode: 'SPONSORED', calculateGasLimits: false },
  })
}

const calls = [{ to: TARGET, value: 0n, data: '0x1234' as Hex }]

async function failureOf(sending: Promise<unknown>): Promise<readonly unknown[]> {
  return causesOf(
    await sending.then(
      (answer) => {
        throw new Error(`accepted: ${answer}`)
      },
      (error) => error,
    ),
  )
}

type Kind = {
  readonly name: string
  readonly version: Version
  readonly account: (seed: string) => Promise<SmartAccount>
}

const kinds: readonly Kind[] = [
  ...devVersions.map((version) => ({
    name: `SimpleAccount, EntryPoint v${version}`,
    version,
    account: (seed: string) => simpleSmartAccount(info(), version, `viem ${version} ${seed}`),
  })),
  ...(['0.8', '0.9'] as const).map((version) => ({
    name: `Simple7702Account, EntryPoint v${version}`,
    version,
    account: (seed: string) =>
      delegatedSmartAccount(info(), version, `viem 7702 ${version} ${seed}`),
  })),
]

test('viem asks what the bundler supports', async () => {
  const client = bundler()
  expect(await client.getChainId()).toBe(info().chainId)
  const supported = await client.getSupportedEntryPoints()
  expect(supported.map((address) => address.toLowerCase())).toEqual(
    devVersions.map((version) => info().entryPoints[version]),
  )
})

test('viem, EntryPoint v0.9: account and tank sign at the same time', async () => {
  const account = await simpleSmartAccount(info(), '0.9', 'viem parallel')
  const paymaster = createPaymasterClient({ transport: http(info().standardUrl) })
  const client = bundler()
  const contextOf = (signingPhase: string) => ({ signingPhase, separateSignature: true })
  const prepared = await client.prepareUserOperation({
    account,
    calls,
    paymaster,
    paymasterContext: contextOf('commit'),
  })
  const { account: _, ...committed } = prepared as typeof prepared & { paymasterSignature: Hex }
  const entryPointAddress = account.entryPoint.address
  const [signature, final] = await Promise.all([
    account.signUserOperation(committed as never),
    paymaster.getPaymasterData({
      ...(committed as never as UserOperation<'0.8'>),
      chainId: info().chainId,
      entryPointAddress,
      context: contextOf('finalize'),
    }),
  ])
  const sent = { ...committed, ...(final as { paymasterSignature?: Hex }), signature }
  expect(sent.paymasterSignature).not.toBe(committed.paymasterSignature)
  const hash = await client.sendUserOperation({ ...sent, entryPointAddress } as never)
  const receipt = await client.waitForUserOperationReceipt({ hash })
  expect(receipt.success).toBe(true)
  expect(receipt.paymaster?.toLowerCase()).toBe(info().tanks['0.9'])
})

describe.each(['0.8', '0.9'] as const)('an account of EIP-7702, EntryPoint v%s', (version) => {
  test('is delegated by a sponsored bundle, then sponsored without a tuple', async () => {
    const account = await delegatedSmartAccount(info(), version, `viem marker ${version}`)
    const client = sponsoredBundler()
    const hash = await client.sendUserOperation({
      account,
      calls,
      ...(await authorizationOf(account)),
    })
    const { receipt } = await client.waitForUserOperationReceipt({ hash })
    expect(receipt.type).toBe('eip7702')

    const marker = { factory: '0x7702', factoryData: '0x' } as const
    const { account: _, ...prepared } = await client.prepareUserOperation({
      account,
      calls,
      ...marker,
    })
    // viem hashes the marker itself unless it sees an authorization; one that names the delegate do.
    const delegation = { address: account.authorization!.address }
    const signature = await account.signUserOperation({
      ...(prepared as never as UserOperation<'0.8'>),
      ...marker,
      authorization: delegation as never,
    })
    const again = await client.sendUserOperation({
      ...prepared,
      ...marker,
      signature,
      entryPointAddress: account.entryPoint.address,
    } as never)
    const second = await client.waitForUserOperationReceipt({ hash: again })
    expect(second).toMatchObject({ success: true })
    expect(second.paymaster?.toLowerCase()).toBe(info().tanks[version])
    expect(second.receipt.type).not.toBe('eip7702')
  })
})

describe.each(kinds)('viem, $name, standard dialect', ({ version, account: open }) => {
  test('sends sponsored operations (ERC-7677), the first creating the account', async () => {
    const account = await open('sponsored')
    const client = sponsoredBundler()
    for (const _ of ['creating', 'created']) {
      const hash = await client.sendUserOperation({
        account,
        calls,
        ...(await authorizationOf(account)),
      })
      const receipt = await client.waitForUserOperationReceipt({ hash })
      expect(receipt.success).toBe(true)
      expect(receipt.userOpHash).toBe(hash)
      expect(receipt.paymaster?.toLowerCase()).toBe(info().tanks[version])
      const found = await client.getUserOperation({ hash })
      expect(found.userOperation.sender.toLowerCase()).toBe(account.address.toLowerCase())
      expect(found.userOperation.callData).toBe(await account.encodeCalls(calls))
      expect(found.blockNumber).toBe(receipt.receipt.blockNumber)
    }
    expect(await nodeClient(info()).getBalance({ address: account.address })).toBe(0n)
  })

  test('sends a self-paid operation', async () => {
    const account = await open('self-paid')
    await fund(info(), account.address)
    const client = bundler()
    const hash = await client.sendUserOperation({
      account,
      calls,
      ...(await authorizationOf(account)),
    })
    const receipt = await client.waitForUserOperationReceipt({ hash })
    expect(receipt.success).toBe(true)
    expect(receipt.actualGasCost).toBeGreaterThan(0n)
    expect(receipt.logs.length).toBeGreaterThan(0)
    expect(receipt.userOpHash).toBe(hash)
  })

  test('maps our refusals to its own typed errors', async () => {
    const poor = await open('poor')
    const unfunded = await failureOf(
      bundler().sendUserOperation({ account: poor, calls, ...(await authorizationOf(poor)) }),
    )
    expect(unfunded.some((each) => each instanceof InsufficientPrefundError)).toBe(true)

    const account = await open('stranger')
    await fund(info(), account.address)
    const signature = await account.getStubSignature()
    const forged = { ...account, signUserOperation: async () => signature }
    const failure = await failureOf(
      bundler().sendUserOperation({ account: forged, calls, ...(await authorizationOf(account)) }),
    )
    expect(failure.some((each) => each instanceof UserOperationSignatureError)).toBe(true)
  })
})

test("viem's paymaster client reads whom the wallet shall show as the sponsor", async () => {
  const change = async (sponsor: unknown) => {
    const headers = {
      authorization: `Bearer ${info().authToken}`,
      'content-type': 'application/json',
    }
    const { items } = (await (
      await fetch(`${info().url}/admin/v1/apps`, { headers })
    ).json()) as Json
    const body = JSON.stringify({ sponsor })
    const init = { method: 'PATCH', headers, body }
    return (await fetch(`${info().url}/admin/v1/apps/${items[0].id}`, init)).status
  }
  const account = await simpleSmartAccount(info(), '0.7', 'viem sponsor')
  const paymaster = createPaymasterClient({ transport: http(info().standardUrl) })
  const ask = async (context: unknown) =>
    paymaster.getPaymasterStubData({
      sender: account.address,
      nonce: 0n,
      ...(await account.getFactoryArgs()),
      callData: await account.encodeCalls(calls),
      maxFeePerGas: 1n,
      maxPriorityFeePerGas: 1n,
      chainId: info().chainId,
      entryPointAddress: account.entryPoint.address,
      context,
    })
  const sponsor = { name: 'The shop', icon: `data:image/png;base64,${'iVBORw0KGgo'.repeat(900)}` }
  expect(await change(sponsor)).toBe(200)
  const shown: { name: string; icon?: string | undefined } | undefined = (await ask({})).sponsor
  expect(shown).toEqual(sponsor)
  const byTokens = await ask({ token: tokenNamed(info(), 'tUSD').address })
  expect(byTokens.sponsor).toBeUndefined()
  const hash = await sponsoredBundler().sendUserOperation({ account, calls })
  const receipt = await bundler().waitForUserOperationReceipt({ hash })
  expect(receipt).toMatchObject({ success: true, paymaster: info().tanks['0.7'] })
  expect(await change({ name: 'The shop', icon: 'http://shop.example/icon.png' })).toBe(400)
  expect(await change(null)).toBe(200)
  expect((await ask({})).sponsor).toBeUndefined()
})
