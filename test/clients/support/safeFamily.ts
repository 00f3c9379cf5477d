import { toSafeSmartAccount } from 'permissionless/accounts'
import type { SmartAccount } from 'viem/account-abstraction'
import type { DevInfo } from '../../../src/cli/devInfo.js'
import { type AccountFamily, commonOf, ownerOf } from './accountFamily.js'
import {
  LAUNCHPAD_7579,
  placeSafe,
  placeSafe7579,
  SAFE_7579,
  type SafeVersion,
} from './placeSafe.js'

function open(info: DevInfo, version: SafeVersion, signers: number, modules: object, seed: string) {
  const owners = Array.from({ length: signers }, (_, at) => ownerOf(`${seed}, owner ${at}`))
  const threshold = BigInt(signers)
  const safe = { ...commonOf(info, '0.7'), version, owners, threshold, ...modules }
  return toSafeSmartAccount(safe as never) as Promise<SmartAccount>
}

const signers = [
  ['1.4.1', 1],
  ['1.4.1', 2],
  ['1.4.1', 3],
  ['1.5.0', 1],
  ['1.5.0', 3],
] as const
const modules = { safe4337ModuleAddress: SAFE_7579, erc7579LaunchpadAddress: LAUNCHPAD_7579 }

/** Safe with its module for EntryPoint v0.7, and with Safe7579. */
export const safeFamily: AccountFamily = {
  async place({ rpcUrl }) {
    await placeSafe(rpcUrl)
    await placeSafe7579(rpcUrl)
  },
  kinds: (info) => [
    ...signers.map(([version, count]) => ({
      name: `Safe ${version}, ${count} of ${count} owners`,
      version: '0.7' as const,
      open: (seed: string) => open(info(), version, count, {}, seed),
    })),
    {
      name: 'Safe 1.4.1 with Safe7579',
      version: '0.7',
      open: (seed) => open(info(), '1.4.1', 1, modules, seed),
    },
  ],
}
