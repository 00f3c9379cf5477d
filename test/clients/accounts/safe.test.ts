import { toSafeSmartAccount } from 'permissionless/accounts'
import { type Address, getCreate2Address, zeroHash } from 'viem'
import type { SmartAccount } from 'viem/account-abstraction'
import { privateKeyToAccount } from 'viem/accounts'
import { beforeAll, expect, test } from 'vitest'
import { keyFromSeed } from '../../../src/devnet/simpleAccount.js'
import { describeAccount } from '../../support/accounts/describeAccount.js'
import {
  LAUNCHPAD_7579,
  placeSafe,
  placeSafe7579,
  SAFE_7579,
  type SafeVersion,
  safeContracts,
} from '../../support/accounts/placeSafe.js'
import { nodeClient } from '../../support/service/smartAccounts.js'
import { usePurser } from '../../support/service/usePurser.js'

/* The real contracts of Safe, by permissionless as it is. */

const info = usePurser()

beforeAll(async () => {
  await placeSafe(info().rpcUrl)
  await placeSafe7579(info().rpcUrl)
})

/** Safe's factory of singletons, at this address on public chains. */
const SINGLETON_FACTORY: Address = '0x914d7Fec6aaC8cd542e72Bca78B30650d45643d7'

test.each(safeContracts())('the code for $address is the one of public chains', (contract) => {
  const created = { from: SINGLETON_FACTORY, salt: zeroHash, bytecode: contract.code }
  expect(getCreate2Address(created)).toBe(contract.address)
})

function open(version: SafeVersion, signers: number, modules: object, seed: string) {
  const owners = Array.from({ length: signers }, (_, at) =>
    privateKeyToAccount(keyFromSeed(`${seed}, owner ${at}`)),
  )
  const address = info().entryPoints['0.7'] as Address
  return toSafeSmartAccount({
    client: nodeClient(info()),
    entryPoint: { address, version: '0.7' },
    version,
    owners,
    threshold: BigInt(signers),
    ...modules,
  } as never) as Promise<SmartAccount>
}

for (const [version, signers] of [
  ['1.4.1', 1],
  ['1.4.1', 2],
  ['1.4.1', 3],
  ['1.5.0', 1],
  ['1.5.0', 3],
] as const) {
  describeAccount(info, {
    name: `Safe ${version}, ${signers} of ${signers} owners`,
    version: '0.7',
    open: (seed) => open(version, signers, {}, seed),
  })
}

describeAccount(info, {
  name: 'Safe 1.4.1 with Safe7579',
  version: '0.7',
  open: (seed) => {
    const modules = { safe4337ModuleAddress: SAFE_7579, erc7579LaunchpadAddress: LAUNCHPAD_7579 }
    return open('1.4.1', 1, modules, seed)
  },
})
