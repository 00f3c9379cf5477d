import { toEtherspotSmartAccount } from 'permissionless/accounts'
import { encodeFunctionData, type Hex, parseAbi } from 'viem'
import {
  entryPoint06Abi,
  getUserOperationHash,
  type SmartAccount,
  toSmartAccount,
} from 'viem/account-abstraction'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { type AccountFamily, commonOf, ownerOf } from './accountFamily.js'
import {
  ETHERSPOT_PRIME_FACTORY,
  etherspotModular,
  placeEtherspotModular,
  placeEtherspotPrime,
} from './placeEtherspot.js'

const primeAbi = parseAbi([
  'function createAccount(address owner, uint256 index) returns (address)',
  'function getAddress(address owner, uint256 index) view returns (address)',
  'function execute(address dest, uint256 value, bytes func)',
  'function executeBatch(address[] dest, uint256[] value, bytes[] func)',
])

/** The dummy of Etherspot's SDK. */
const STUB: Hex =
  '0xfffffffffffffffffffffffffffffff0000000000000000000000000000000007aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1c'

/** An account as Etherspot's SDK makes it; test/clients/etherspot drives that SDK itself. */
async function openPrime(info: DevInfo, seed: string): Promise<SmartAccount> {
  const { client, entryPoint } = commonOf(info, '0.6')
  const owner = ownerOf(seed)
  const factory = ETHERSPOT_PRIME_FACTORY
  const args = [owner.address, 0n] as const
  const call = { abi: primeAbi, address: factory, functionName: 'getAddress', args } as const
  const address = await client.readContract(call)
  const unsupported = () => Promise.reject(new Error('This account signs operations only.'))
  return toSmartAccount({
    client,
    entryPoint: { ...entryPoint, abi: entryPoint06Abi },
    getAddress: async () => address,
    getFactoryArgs: async () => ({
      factory,
      factoryData: encodeFunctionData({ abi: primeAbi, functionName: 'createAccount', args }),
    }),
    encodeCalls: async (calls) => {
      const [first] = calls
      if (calls.length === 1 && first !== undefined)
        return encodeFunctionData({
          abi: primeAbi,
          functionName: 'execute',
          args: [first.to, first.value ?? 0n, first.data ?? '0x'],
        })
      const targets = calls.map(({ to }) => to)
      const values = calls.map(({ value }) => value ?? 0n)
      const datas = calls.map(({ data }) => data ?? '0x')
      return encodeFunctionData({
        abi: primeAbi,
        functionName: 'executeBatch',
        args: [targets, values, datas],
      })
    },
    getStubSignature: async () => STUB,
    signMessage: unsupported,
    signTypedData: unsupported,
    signUserOperation: async (operation) => {
      const hash = getUserOperationHash({
        chainId: info.chainId,
        userOperation: { ...operation, sender: address, signature: '0x' },
        entryPointAddress: entryPoint.address,
        entryPointVersion: '0.6',
      })
      return owner.signMessage({ message: { raw: hash } })
    },
  }) as Promise<SmartAccount>
}

/** Etherspot's accounts for EntryPoint v0.6 ("Prime"), and for v0.7 (ERC-7579) by permissionless. */
export const etherspotFamily: AccountFamily = {
  async place({ rpcUrl }) {
    await placeEtherspotPrime(rpcUrl)
    await placeEtherspotModular(rpcUrl)
  },
  kinds: (info) => [
    { name: 'Etherspot Prime', version: '0.6', open: (seed) => openPrime(info(), seed) },
    {
      name: 'Etherspot modular',
      version: '0.7',
      open: (seed) => {
        const account = { ...commonOf(info(), '0.7'), owners: [ownerOf(seed)], ...etherspotModular }
        return toEtherspotSmartAccount(account as never) as Promise<SmartAccount>
      },
    },
  ],
}
