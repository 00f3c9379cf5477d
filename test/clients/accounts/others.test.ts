import {
  toKernelSmartAccount,
  toNexusSmartAccount,
  toThirdwebSmartAccount,
} from 'permissionless/accounts'
import type { Address } from 'viem'
import type { SmartAccount } from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll } from 'vitest'
import { keyFromSeed } from '../../../src/devnet/simpleAccount.js'
import { describeAccount } from '../../support/accounts/describeAccount.js'
import { placeKernel } from '../../support/accounts/placeKernel.js'
import { placeNexus } from '../../support/accounts/placeNexus.js'
import { placeThirdweb } from '../../support/accounts/placeThirdweb.js'
import { nodeClient } from '../../support/service/smartAccounts.js'
import { usePurser } from '../../support/service/usePurser.js'

/* The real contracts of other vendors, by permissionless as it is. */

const info = usePurser()

beforeAll(async () => {
  await placeKernel(info().rpcUrl)
  await placeThirdweb(info().rpcUrl)
  await placeNexus(info().rpcUrl)
})

function common<Known extends '0.6' | '0.7'>(version: Known) {
  const address = info().entryPoints[version] as Address
  return { client: nodeClient(info()), entryPoint: { address, version } }
}

function ownerOf(seed: string) {
  return privateKeyToAccount(keyFromSeed(seed))
}

describeAccount(info, {
  name: 'Kernel 3.1',
  version: '0.7',
  open: (seed) => {
    const account = { ...common('0.7'), version: '0.3.1' as const, owners: [ownerOf(seed)] }
    return toKernelSmartAccount(account as never) as Promise<SmartAccount>
  },
})

describeAccount(info, {
  name: 'thirdweb',
  version: '0.6',
  open: (seed) => {
    const account = { ...common('0.6'), owner: ownerOf(seed) } as const
    return toThirdwebSmartAccount(account) as Promise<SmartAccount>
  },
})

describeAccount(info, {
  name: 'Nexus 1.0.1',
  version: '0.7',
  open: (seed) => {
    const account = { ...common('0.7'), version: '1.0.0' as const, owners: [ownerOf(seed)] }
    return toNexusSmartAccount(account as never) as Promise<SmartAccount>
  },
})
