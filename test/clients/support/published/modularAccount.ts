import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import {
  createModularAccountV2,
  createMultiOwnerModularAccount,
} from '@account-kit/smart-contracts'
import type { Address, Hex } from 'viem'
import { accountsClient } from '../constructAt.js'
import { aaSdkOptions, fromAaSdk } from './aaSdkAccount.js'
import { readBroadcast } from './broadcast.js'
import { readCheckout } from './checkouts.js'
import { placePublished, sendAs } from './placePublished.js'
import type { PublishedContract } from './publishedContract.js'
import type { PublishedFamily } from './publishedFamily.js'

const RUN = 'broadcast/Deploy.s.sol/1/run-1707343636.json'
const FACTORY = 2
const names = [
  'UpgradeableModularAccount',
  'MultiOwnerPlugin',
  'MultiOwnerModularAccountFactory',
  'SessionKeyPlugin',
]

/** A source of @account-kit/smart-contracts, as npm installed it. */
function clientSource(path: string): string {
  const entry = createRequire(import.meta.url).resolve('@account-kit/smart-contracts')
  return readFileSync(join(dirname(entry), path), 'utf8')
}

function contractsOfV1(): readonly PublishedContract[] {
  return readBroadcast('modular-account', RUN).creations.map((creation, at) => ({
    ...creation,
    name: names[at]!,
    client: at === FACTORY ? clientSource('msca/utils.js') : undefined,
  }))
}

/** Modular Account v1, from its creation on Ethereum with the factory's stake, by Alchemy's client. */
export const modularAccount1: PublishedFamily = {
  name: 'Modular Account v1',
  checkouts: ['modular-account'],
  contracts: contractsOfV1,
  place: async ({ rpcUrl }) => {
    const factory = contractsOfV1()[FACTORY]!.address!
    const client = accountsClient(rpcUrl)
    if ((await client.getCode({ address: factory })) !== undefined) return
    await placePublished(rpcUrl, contractsOfV1())
    for (const call of readBroadcast('modular-account', RUN).calls)
      await sendAs(client, call, `A call of ${call.to}`)
  },
  kinds: (info) => [
    {
      name: 'Modular Account v1, as published',
      version: '0.6',
      open: async (seed) => {
        const account = await createMultiOwnerModularAccount(aaSdkOptions(info(), seed) as never)
        return fromAaSdk(info(), '0.6', account as never)
      },
    },
  ],
}

/** Those that an account of one owner uses; the client names the others. */
const namesOfV2 = ['ExecutionInstallDelegate', 'SemiModularAccountBytecode', 'AccountFactory']

function contractsOfV2(): readonly PublishedContract[] {
  const source = readCheckout('aa-benchmarks', 'test/artifacts/modularAccountV2.ts')
  const client = clientSource('ma-v2/utils.js')
  return namesOfV2.map((name) => {
    const declaration = new RegExp(
      `\\b${name}: \\{\\s+address: "(0x\\w{40})"[^]+?bytecode:\\s+"(0x[0-9a-f]+)"`,
    )
    const [, address, runtime] = declaration.exec(source) ?? []
    if (runtime === undefined) throw new Error(`modularAccountV2.ts has no ${name}.`)
    return {
      name,
      address: address as Address,
      client: name === 'ExecutionInstallDelegate' ? undefined : client,
      origin: { runtime: runtime as Hex },
    }
  })
}

/** Modular Account v2 with the code that Alchemy's benchmarks have of it, by Alchemy's client. */
export const modularAccount2: PublishedFamily = {
  name: 'Modular Account v2',
  checkouts: ['aa-benchmarks'],
  contracts: contractsOfV2,
  place: ({ rpcUrl }) => placePublished(rpcUrl, contractsOfV2()),
  kinds: (info) => [
    {
      name: 'Modular Account v2, as published',
      version: '0.7',
      open: async (seed) => {
        const account = await createModularAccountV2(aaSdkOptions(info(), seed) as never)
        return fromAaSdk(info(), '0.7', account as never)
      },
    },
  ],
}
