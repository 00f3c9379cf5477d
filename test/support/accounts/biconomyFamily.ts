import { toBiconomySmartAccount, toNexusSmartAccount } from 'permissionless/accounts'
import type { SmartAccount } from 'viem/account-abstraction'
import { placeBiconomyContracts } from '../../../src/devnet/biconomyContracts.js'
import { type AccountFamily, commonOf, ownerOf } from './accountFamily.js'
import { placeNexus } from './placeNexus.js'

/** Biconomy V2 with its ECDSA module, and Nexus 1.0.1, by permissionless. */
export const biconomyFamily: AccountFamily = {
  async place({ rpcUrl }) {
    await placeBiconomyContracts(rpcUrl)
    await placeNexus(rpcUrl)
  },
  kinds: (info) => [
    {
      name: 'Biconomy V2',
      version: '0.6',
      open: (seed) => {
        const account = { ...commonOf(info(), '0.6'), owners: [ownerOf(seed)] }
        return toBiconomySmartAccount(account as never) as Promise<SmartAccount>
      },
    },
    {
      name: 'Nexus 1.0.1',
      version: '0.7',
      open: (seed) => {
        const version = '1.0.0' as const
        const account = { ...commonOf(info(), '0.7'), version, owners: [ownerOf(seed)] }
        return toNexusSmartAccount(account as never) as Promise<SmartAccount>
      },
    },
  ],
}
