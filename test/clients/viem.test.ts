import {
  type Address,
  concatHex,
  createPublicClient,
  createTestClient,
  encodeFunctionData,
  type Hex,
  http,
  parseAbi,
  parseEther,
} from 'viem'
import {
  createBundlerClient,
  createPaymasterClient,
  entryPoint06Abi,
  getUserOperationHash,
  InsufficientPrefundError,
  toSmartAccount,
  type UserOperation,
} from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { foundry } from 'viem/chains'
import { describe, expect, test } from 'vitest'
import { keyFromSeed } from '../../src/devnet/simpleAccount.js'
import { TARGET } from '../support/devAccount.js'
import { usePurser } from '../support/usePurser.js'

const info = usePurser()

const abi = parseAbi([
  'function createAccount(address owner, uint256 salt) returns (address)',
  'function getAddress(address owner, uint256 salt) view returns (address)',
  'function execute(address dest, uint256 value, bytes func)',
])
const STUB: Hex = `0x${'33'.repeat(32)}${'22'.repeat(32)}1b`

/** viem's account interface for a SimpleAccount of EntryPoint v0.6. */
const simpleAccount = async (seed: string) => {
  const owner = privateKeyToAccount(keyFromSeed(seed))
  const client = createPublicClient({ chain: foundry, transport: http(info().rpcUrl) })
  const factory = info().factories['0.6'] as Address
  const entryPoint = {
    abi: entryPoint06Abi,
    address: info().entryPoints['0.6'] as Address,
    version: '0.6',
  } as const
  const created = [owner.address, 0n] as const
  const address = await client.readContract({
    ...{ abi, address: factory, functionName: 'getAddress', args: created },
  })
  const unsupported = () => Promise.reject(new Error('not needed here'))
  return toSmartAccount({
    client,
    entryPoint,
    getAddress: async () => address as Address,
    getFactoryArgs: async () => ({
      factory,
      factoryData: encodeFunctionData({ abi, functionName: 'createAccount', args: created }),
    }),
    encodeCalls: async ([call]) =>
      encodeFunctionData({
        ...{ abi, functionName: 'execute' },
        args: [call!.to, call!.value ?? 0n, call!.data ?? '0x'],
      }),
    getStubSignature: async () => STUB,
    signMessage: unsupported,
    signTypedData: unsupported,
    signUserOperation: async (operation) => {
      const userOperation = { ...operation, sender: address, signature: '0x' } as UserOperation
      const hash = getUserOperationHash({
        ...{ chainId: info().chainId, userOperation: userOperation as never },
        ...{ entryPointAddress: entryPoint.address, entryPointVersion: '0.6' as const },
      })
      return owner.signMessage({ message: { raw: hash } })
    },
  })
}

const bundler = (sponsored: boolean) =>
  createBundlerClient({
    chain: foundry,
    client: createPublicClient({ chain: foundry, transport: http(info().rpcUrl) }),
    transport: http(info().standardUrl),
    pollingInterval: 100,
    ...(sponsored
      ? {
          paymaster: createPaymasterClient({ transport: http(info().standardUrl) }),
          paymasterContext: { mode: 'SPONSORED', calculateGasLimits: false },
        }
      : {}),
  })

const calls = [{ to: TARGET, value: 0n, data: '0x1234' as Hex }]

describe('viem account abstraction clients, EntryPoint v0.6, standard dialect', () => {
  test('asks what the bundler supports', async () => {
    const client = bundler(false)
    expect(await client.getChainId()).toBe(info().chainId)
    const [first] = await client.getSupportedEntryPoints()
    expect(first?.toLowerCase()).toBe(info().entryPoints['0.6']?.toLowerCase())
  })

  test('sends a sponsored operation (ERC-7677) and reads its receipt', async () => {
    const account = await simpleAccount('viem sponsored')
    const client = bundler(true)
    const hash = await client.sendUserOperation({ account, calls })
    const receipt = await client.waitForUserOperationReceipt({ hash })
    expect(receipt.success).toBe(true)
    expect(receipt.paymaster?.toLowerCase()).toBe(info().tanks['0.6']?.toLowerCase())
    const found = await client.getUserOperation({ hash })
    expect(found.userOperation.sender.toLowerCase()).toBe(account.address.toLowerCase())
    expect(found.blockNumber).toBe(receipt.receipt.blockNumber)
  })

  test('sends a self-paid operation', async () => {
    const account = await simpleAccount('viem self-paid')
    await createTestClient({
      ...{ mode: 'anvil', chain: foundry, transport: http(info().rpcUrl) },
    }).setBalance({ address: account.address, value: parseEther('1') })
    const client = bundler(false)
    const hash = await client.sendUserOperation({ account, calls })
    const receipt = await client.waitForUserOperationReceipt({ hash })
    expect(receipt.success).toBe(true)
    expect(receipt.actualGasCost).toBeGreaterThan(0n)
    expect(receipt.logs.length).toBeGreaterThan(0)
    expect(concatHex([receipt.userOpHash])).toBe(hash)
  })

  test('maps our refusal to its own typed error', async () => {
    const account = await simpleAccount('viem poor')
    const sending = bundler(false).sendUserOperation({ account, calls })
    const error = await sending.catch((thrown) => thrown)
    const causes = []
    for (let each = error; each; each = each.cause) causes.push(each)
    expect(causes.some((each) => each instanceof InsufficientPrefundError)).toBe(true)
  })
})
