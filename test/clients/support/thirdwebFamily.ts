import { toThirdwebSmartAccount } from 'permissionless/accounts'
import type { SmartAccount } from 'viem/account-abstraction'
import { type AccountFamily, commonOf, ownerOf } from './accountFamily.js'
import { placeThirdweb } from './placeThirdweb.js'

/** thirdweb's account for EntryPoint v0.6, by permissionless. */
export const thirdwebFamily: AccountFamily = {
  place: ({ rpcUrl }) => placeThirdweb(rpcUrl),
  kinds: (info) => [
    {
      name: 'thirdweb',
      version: '0.6',
      open: (seed) => {
        const account = { ...commonOf(info(), '0.6'), owner: ownerOf(seed) } as const
        return toThirdwebSmartAccount(account) as Promise<SmartAccount>
      },
    },
  ],
}
