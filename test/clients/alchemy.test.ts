import {
  createBundlerClient,
  getEntryPoint,
  LocalAccountSigner,
  SimpleAccountAbi_v6,
  SimpleAccountAbi_v7,
  SimpleAccountFactoryAbi,
  toSmartContractAccount,
} from '@aa-sdk/core'
import { alchemy, createAlchemySmartAccountClient, defineAlchemyChain } from '@account-kit/infra'
import { type Address, concatHex, encodeFunctionData, type Hex, http, parseGwei } from 'viem'
import { foundry } from 'viem/chains'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keyFromSeed } from '../../src/cli/devnet/simpleAccount.js'
import { TARGET } from '../support/service/devAccount.js'
import { createDevPolicy } from '../support/service/devPolicies.js'
import { fund, nodeClient } from '../support/service/smartAccounts.js'
import { usePurser } from '../support/service/usePurser.js'

/* A user of Alchemy who changes the URL: its client with one URL for chain, bundler and gas manager. */

const info = usePurser()

/* The id that the user's code sends is the name of a policy here. */
let removePolicy = async () => {}
beforeAll(async () => {
  removePolicy = await createDevPolicy(info(), 'a-policy-of-alchemy')
})
afterAll(() => removePolicy())

const versions = ['0.6.0', '0.7.0'] as const
type Known = (typeof versions)[number]

function chain() {
  return defineAlchemyChain({ chain: foundry, rpcBaseUrl: info().standardUrl })
}

/** A SimpleAccount by the SDK's own maker of accounts. */
function accountOf(version: Known, seed: string) {
  const signer = LocalAccountSigner.privateKeyToAccountSigner(keyFromSeed(`alchemy ${seed}`))
  const isFirst = version === '0.6.0'
  const execute = (target: Address, value: bigint, data: Hex) =>
    encodeFunctionData({
      abi: isFirst ? SimpleAccountAbi_v6 : SimpleAccountAbi_v7,
      functionName: 'execute',
      args: [target, value, data],
    })
  return toSmartContractAccount({
    source: 'SimpleAccount',
    transport: alchemy({ rpcUrl: info().standardUrl }) as never,
    chain: chain(),
    entryPoint: getEntryPoint(chain(), { version } as never) as never,
    getAccountInitCode: async () =>
      concatHex([
        info().factories[isFirst ? '0.6' : '0.7'] as Address,
        encodeFunctionData({
          abi: SimpleAccountFactoryAbi,
          functionName: 'createAccount',
          args: [await signer.getAddress(), 0n],
        }),
      ]),
    getDummySignature: () =>
      '0xfffffffffffffffffffffffffffffff0000000000000000000000000000000007aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1c',
    encodeExecute: async ({ target, value = 0n, data }) => execute(target, value, data as Hex),
    signMessage: ({ message }) => signer.signMessage(message),
    signTypedData: (typed) => signer.signTypedData(typed),
    signUserOperationHash: (hash) => signer.signMessage({ raw: hash }),
  })
}

async function clientOf(version: Known, seed: string, settings: object = {}) {
  return createAlchemySmartAccountClient({
    account: await accountOf(version, `${version} ${seed}`),
    chain: chain(),
    transport: alchemy({ rpcUrl: info().standardUrl }),
    ...settings,
  } as never)
}

const uo = { target: TARGET, data: '0x1234', value: 0n } as const

async function send(client: Awaited<ReturnType<typeof clientOf>>, overrides: object = {}) {
  const { hash } = await client.sendUserOperation({ uo, overrides } as never)
  await client.waitForUserOperationTransaction({
    hash,
    retries: { intervalMs: 100, multiplier: 1, maxRetries: 600 },
  })
  return createBundlerClient({
    chain: foundry,
    transport: http(info().standardUrl),
  }).getUserOperationReceipt(hash, 'latest' as never)
}

describe.each(versions)('createAlchemySmartAccountClient, EntryPoint v%s', (version) => {
  const named = version === '0.6.0' ? '0.6' : '0.7'

  test('pays for itself at the tip that it asks for', async () => {
    const client = await clientOf(version, 'self-paid')
    await fund(info(), (client as { account: { address: Address } }).account.address)
    expect(await send(client)).toMatchObject({ success: true })
  })

  test('is sponsored by one request for gas, fees and paymaster', async () => {
    const client = await clientOf(version, 'sponsored', { policyId: 'a-policy-of-alchemy' })
    for (const _ of ['creating', 'created']) {
      const receipt = await send(client)
      expect(receipt).toMatchObject({ success: true })
      const { paymaster } = receipt as unknown as { readonly paymaster: string }
      expect(paymaster.toLowerCase()).toBe(info().tanks[named])
    }
    const { address } = (client as { account: { address: Address } }).account
    expect(await nodeClient(info()).getBalance({ address })).toBe(0n)
  })

  test('its own limits and multipliers are in what the tank signs', async () => {
    const client = await clientOf(version, 'overrides', { policyId: 'a-policy-of-alchemy' })
    const build = async (overrides: object) =>
      (await client.buildUserOperation({ uo, overrides } as never)) as unknown as {
        readonly callGasLimit: Hex
        readonly preVerificationGas: Hex
        readonly maxFeePerGas: Hex
      }
    const plain = await build({})
    const more = await build({
      callGasLimit: 123_456n,
      preVerificationGas: { multiplier: 1.2 },
      maxFeePerGas: parseGwei('2'),
    })
    expect(BigInt(more.callGasLimit)).toBe(123_456n)
    expect(BigInt(more.maxFeePerGas)).toBe(parseGwei('2'))
    expect(BigInt(more.preVerificationGas)).toBeGreaterThan(
      (BigInt(plain.preVerificationGas) * 11n) / 10n,
    )
    const receipt = await send(client, {
      callGasLimit: 123_456n,
      preVerificationGas: { multiplier: 1.2 },
    })
    expect(receipt).toMatchObject({ success: true })
  })

  test('a refusal is the error that it throws', async () => {
    const client = await clientOf(version, 'refused', { policyId: 'a-policy-of-alchemy' })
    const sending = send(client, { maxFeePerGas: 10n ** 18n })
    await expect(sending).rejects.toThrow(/A sponsored operation may bid/)
  })
})
