import { devVersions } from '../../../src/cli/devnet/devContracts.js'
import { delegatedSmartAccount, simpleSmartAccount } from '../../support/service/smartAccounts.js'
import type { AccountFamily } from './accountFamily.js'

/** SimpleAccount and Simple7702Account of each EntryPoint, which the development chain has. */
export const simpleFamily: AccountFamily = {
  place: async () => {},
  kinds: (info) => [
    ...devVersions.map((version) => ({
      name: 'SimpleAccount',
      version,
      open: (seed: string) => simpleSmartAccount(info(), version, seed),
    })),
    ...(['0.8', '0.9'] as const).map((version) => ({
      name: 'Simple7702Account',
      version,
      open: (seed: string) => delegatedSmartAccount(info(), version, seed),
    })),
  ],
}
