import { toBiconomySmartAccount, toNexusSmartAccount } from 'permissionless/accounts'
import type { SmartAccount } from 'viem/account-abstraction'
import { placeBiconomyContracts } from '../../../src/cli/devnet/biconomyContracts.js'
import { type AccountFamily, commonOf, ownerOf } from './accountFamily.js'
import { openWithSessions } from './biconomySessions.js'
import { placeNexus } from './placeNexus.js'
import { placeSessionModules } from './placeSessionModules.js'

/** Biconomy V2 with its ECDSA module, and Nexus 1.0.1, by permissionless; Biconomy V2 with session keys by its SDK. */
export const biconomyFamily: AccountFamily = {
  async place({ rpcUrl }) {
    await placeBiconomyContracts(rpcUrl)
    await placeSessionModules(rpcUrl)
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
    ...(['single', 'batched'] as const).map((sessions) => ({
      name: `Biconomy V2, ${sessions} session keys`,
      version: '0.6' as const,
      open: (seed: string) => openWithSessions(info(), seed, sessions),
    })),
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
