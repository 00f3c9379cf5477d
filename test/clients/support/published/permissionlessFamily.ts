import {
  to7702KernelSmartAccount,
  toBiconomySmartAccount,
  toEtherspotSmartAccount,
  toKernelSmartAccount,
  toLightSmartAccount,
  toNexusSmartAccount,
  toSafeSmartAccount,
  toThirdwebSmartAccount,
  toTrustSmartAccount,
} from 'permissionless/accounts'
import { type Address, encodeFunctionData, parseAbi } from 'viem'
import type { SmartAccount } from 'viem/account-abstraction'
import type { DevInfo } from '../../../../src/cli/devInfo.js'
import { commonOf, ownerOf } from '../accountFamily.js'
import { accountsClient } from '../constructAt.js'
import type { AccountKind } from '../describeAccount.js'
import {
  KERNEL_2_ACCOUNTS,
  KERNEL_2_FACTORY,
  KERNEL_3_FACTORIES,
  KERNEL_3_META_FACTORY,
  permissionlessContracts,
} from './permissionlessContracts.js'
import { placePublished, sendAs } from './placePublished.js'
import type { PublishedFamily } from './publishedFamily.js'

type Info = () => DevInfo
type Open = (parameters: never) => Promise<unknown>

/** A kind of which permissionless asks for no more than `parameters` in addition to client and EntryPoint. */
function kindOf(
  info: Info,
  [name, version]: readonly [string, '0.6' | '0.7'],
  open: Open,
  parametersOf: (seed: string) => object,
): AccountKind {
  return {
    name: `${name}, as published`,
    version,
    open: (seed) => {
      const parameters = { ...commonOf(info(), version), ...parametersOf(seed) }
      return open(parameters as never) as Promise<SmartAccount>
    },
  }
}

const owned = (seed: string) => ({ owner: ownerOf(seed) })
const ownedByOne = (seed: string) => ({ owners: [ownerOf(seed)] })

function kernels(info: Info): AccountKind[] {
  const versions = [
    ['0.6', '0.2.1'],
    ['0.6', '0.2.2'],
    ['0.6', '0.2.3'],
    ['0.6', '0.2.4'],
    ['0.7', '0.3.0-beta'],
    ['0.7', '0.3.1'],
    ['0.7', '0.3.2'],
    ['0.7', '0.3.3'],
  ] as const
  return [
    ...versions.map(([entryPoint, version]): AccountKind => {
      const named = [`Kernel ${version.slice(2)}`, entryPoint] as const
      const parameters = (seed: string) => ({ ...ownedByOne(seed), version })
      const kind = kindOf(info, named, toKernelSmartAccount, parameters)
      return version === '0.2.1' ? { ...kind, ignoresBatches: true } : kind
    }),
    kindOf(info, ['Kernel 3.3 (EIP-7702)', '0.7'], to7702KernelSmartAccount, owned),
  ]
}

function safes(info: Info): AccountKind[] {
  return [1, 2, 3].map((count) =>
    kindOf(
      info,
      [`Safe 1.4.1, ${count} of ${count} owners`, '0.6'],
      toSafeSmartAccount,
      (seed) => ({
        version: '1.4.1',
        owners: Array.from({ length: count }, (_, at) => ownerOf(`${seed}, owner ${at}`)),
        threshold: BigInt(count),
      }),
    ),
  )
}

const factoryAbi = parseAbi([
  'function owner() view returns (address)',
  'function setImplementation(address implementation, bool allow)',
  'function approveFactory(address factory, bool approval)',
])

/** As the owner of a factory did on public chains. */
async function asOwner(
  client: ReturnType<typeof accountsClient>,
  factory: Address,
  functionName: 'setImplementation' | 'approveFactory',
  arg: Address,
): Promise<void> {
  const owner = { abi: factoryAbi, address: factory, functionName: 'owner' } as const
  const from = await client.readContract(owner)
  const data = encodeFunctionData({ abi: factoryAbi, functionName, args: [arg, true] })
  await sendAs(client, { from, to: factory, data }, `${functionName} ${arg}`)
}

/** Creates all contracts; Kernel's factories then learn from their owner which accounts they may create. */
async function place({ rpcUrl }: Pick<DevInfo, 'rpcUrl'>): Promise<void> {
  const client = accountsClient(rpcUrl)
  if ((await client.getCode({ address: KERNEL_3_META_FACTORY })) !== undefined) return
  await placePublished(rpcUrl, permissionlessContracts())
  for (const account of Object.values(KERNEL_2_ACCOUNTS))
    await asOwner(client, KERNEL_2_FACTORY, 'setImplementation', account)
  for (const factory of Object.values(KERNEL_3_FACTORIES))
    await asOwner(client, KERNEL_3_META_FACTORY, 'approveFactory', factory)
}

/** The accounts whose creation permissionless.js publishes for its own tests, by the client of npm. */
export const permissionlessFamily: PublishedFamily = {
  name: 'accounts of permissionless',
  checkouts: ['permissionless.js'],
  contracts: permissionlessContracts,
  place,
  kinds: (info) => [
    ...kernels(info),
    kindOf(info, ['Light 1.1.0', '0.6'], toLightSmartAccount, (seed) => ({
      ...owned(seed),
      version: '1.1.0',
    })),
    kindOf(info, ['Light 2.0.0', '0.7'], toLightSmartAccount, (seed) => ({
      ...owned(seed),
      version: '2.0.0',
    })),
    kindOf(info, ['Trust (Barz)', '0.6'], toTrustSmartAccount, owned),
    ...safes(info),
    kindOf(info, ['thirdweb', '0.6'], toThirdwebSmartAccount, owned),
    kindOf(info, ['thirdweb', '0.7'], toThirdwebSmartAccount, owned),
    kindOf(info, ['Biconomy V2', '0.6'], toBiconomySmartAccount, ownedByOne),
    kindOf(info, ['Nexus 1.0.1', '0.7'], toNexusSmartAccount, (seed) => ({
      ...ownedByOne(seed),
      version: '1.0.0',
    })),
    kindOf(info, ['Etherspot modular', '0.7'], toEtherspotSmartAccount, ownedByOne),
  ],
}
