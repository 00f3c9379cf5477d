import {
  type Address,
  type Chain,
  type Client,
  createPublicClient,
  createTestClient,
  encodeFunctionData,
  type Hex,
  http,
  parseAbi,
  parseEther,
  type Transport,
} from 'viem'
import {
  entryPoint06Abi,
  entryPoint07Abi,
  entryPoint08Abi,
  entryPoint09Abi,
  getUserOperationHash,
  type SmartAccount,
  toSimple7702SmartAccount,
  toSmartAccount,
  type UserOperation,
} from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { signAuthorization } from 'viem/actions'
import { foundry } from 'viem/chains'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { keyFromSeed } from '../../../src/cli/devnet/simpleAccount.js'
import type { Version } from '../../../src/erc4337/entryPoint.js'

const factoryAbi = parseAbi([
  'function createAccount(address owner, uint256 salt) returns (address)',
  'function getAddress(address owner, uint256 salt) view returns (address)',
])
const accountAbi = parseAbi(['function execute(address dest, uint256 value, bytes func)'])
const batchAbi06 = parseAbi(['function executeBatch(address[] dest, bytes[] func)'])
const batchAbi07 = parseAbi([
  'function executeBatch(address[] dest, uint256[] value, bytes[] func)',
])
const batchAbi08 = parseAbi(['function executeBatch((address,uint256,bytes)[] calls)'])

const entryPointAbis = {
  '0.6': entryPoint06Abi,
  '0.7': entryPoint07Abi,
  '0.8': entryPoint08Abi,
  '0.9': entryPoint09Abi,
} as const

const STUB: Hex = `0x${'33'.repeat(32)}${'22'.repeat(32)}1b`

export function nodeClient({ rpcUrl }: Pick<DevInfo, 'rpcUrl'>) {
  return createPublicClient({ chain: foundry, transport: http(rpcUrl), pollingInterval: 50 })
}

/** Gives `address` one ether. */
export function fund({ rpcUrl }: Pick<DevInfo, 'rpcUrl'>, address: Address) {
  return createTestClient({ mode: 'anvil', chain: foundry, transport: http(rpcUrl) }).setBalance({
    address,
    value: parseEther('1'),
  })
}

type Call = {
  readonly to: Address
  readonly value?: bigint | undefined
  readonly data?: Hex | undefined
}

/** Several calls of a SimpleAccount; that of v0.6 sends no value with them. */
function encodeBatch(version: Version, calls: readonly Call[]): Hex {
  const targets = calls.map(({ to }) => to)
  const datas = calls.map(({ data }) => data ?? '0x')
  const values = calls.map(({ value }) => value ?? 0n)
  const functionName = 'executeBatch'
  if (version === '0.6')
    return encodeFunctionData({ abi: batchAbi06, functionName, args: [targets, datas] })
  if (version === '0.7')
    return encodeFunctionData({ abi: batchAbi07, functionName, args: [targets, values, datas] })
  const rows = targets.map((to, at) => [to, values[at]!, datas[at]!] as const)
  return encodeFunctionData({ abi: batchAbi08, functionName, args: [rows] })
}

/** viem's own kind of account for a SimpleAccount of any version; viem has none that is ready made. */
export async function simpleSmartAccount(
  info: DevInfo,
  version: Version,
  seed: string,
): Promise<SmartAccount> {
  const owner = privateKeyToAccount(keyFromSeed(seed))
  const client = nodeClient(info)
  const factory = info.factories[version] as Address
  const entryPointAddress = info.entryPoints[version] as Address
  const args = [owner.address, 0n] as const
  const address = await client.readContract({
    abi: factoryAbi,
    address: factory,
    functionName: 'getAddress',
    args,
  })
  const unsupported = () => Promise.reject(new Error('A SimpleAccount signs operations only.'))
  return toSmartAccount({
    client,
    entryPoint: { abi: entryPointAbis[version], address: entryPointAddress, version },
    getAddress: async () => address,
    getFactoryArgs: async () => ({
      factory,
      factoryData: encodeFunctionData({ abi: factoryAbi, functionName: 'createAccount', args }),
    }),
    encodeCalls: async (calls) => {
      const [call] = calls
      if (calls.length > 1 || call === undefined) return encodeBatch(version, calls)
      const args = [call.to, call.value ?? 0n, call.data ?? '0x'] as const
      return encodeFunctionData({ abi: accountAbi, functionName: 'execute', args })
    },
    getStubSignature: async () => STUB,
    signMessage: unsupported,
    signTypedData: unsupported,
    signUserOperation: async (operation) => {
      const userOperation = { ...operation, sender: address, signature: '0x' } as UserOperation
      const hash = getUserOperationHash({
        chainId: info.chainId,
        userOperation,
        entryPointAddress,
        entryPointVersion: version,
      })
      return version === '0.6' || version === '0.7'
        ? owner.signMessage({ message: { raw: hash } })
        : owner.sign({ hash })
    },
  }) as Promise<SmartAccount>
}

/** A plain key whose operations delegate it to Simple7702Account (EIP-7702). */
export function delegatedSmartAccount(
  info: DevInfo,
  version: '0.8' | '0.9',
  seed: string,
): Promise<SmartAccount> {
  return toSimple7702SmartAccount({
    client: nodeClient(info),
    owner: privateKeyToAccount(keyFromSeed(seed)),
    entryPoint: version,
  })
}

/** What a client passes with an operation of a delegated account whose key is still plain. */
export async function authorizationOf(account: SmartAccount) {
  const delegation = account.authorization
  if (delegation === undefined || (await account.isDeployed())) return {}
  const client = account.client as Client<Transport, Chain>
  return { authorization: await signAuthorization(client, delegation) }
}
