import type { Address, Hex } from 'viem'
import { entryPoint07Address } from 'viem/account-abstraction'
import { constructAt } from './constructAt.js'
import { artifactCode, modulekitCode } from './creationCode.js'
import { placeRegistry, REGISTRY } from './placeRegistry.js'

export type SafeVersion = '1.4.1' | '1.5.0'

/** Contracts of a Safe version, which every client names alike: artifact below `build`, and address. */
const SAFES: Record<SafeVersion, { readonly build: string; readonly at: Record<string, Address> }> =
  {
    '1.4.1': {
      build: '@safe-global/safe-contracts/build/artifacts/contracts',
      at: {
        'proxies/SafeProxyFactory': '0x4e1DCf7AD4e460CfD30791CCC4F9c8a4f820ec67',
        Safe: '0x41675C099F32341bf84BFc5382aF534df5C7461a',
        'libraries/MultiSend': '0x38869bf66a61cF6bDB996A6aE40D5853Fd43B526',
        'libraries/MultiSendCallOnly': '0x9641d764fc13c8B624c04430C7356C1C7C8102e2',
      },
    },
    '1.5.0': {
      build: '@safe-global/safe-smart-account/build/artifacts/contracts',
      at: {
        'proxies/SafeProxyFactory': '0x14F2982D601c9458F93bd70B218933A6f8165e7b',
        Safe: '0xFf51A5898e281Db6DfC7855790607438dF2ca44b',
        'libraries/MultiSend': '0x218543288004CD07832472D464648173c77D7eB7',
        'libraries/MultiSendCallOnly': '0xA83c336B20401Af773B6219BA5027174338D1836',
      },
    },
  }

const MODULE_BUILD = '@safe-global/safe-4337/build/artifacts/contracts'
const MODULE_SETUP: Address = '0x2dd68b007B46fBe91B9A7c3EDa5A7a1063cB5b47'
const MODULE: Address = '0x75cf11467937ce3F2f357CE24ffc3DBF8fD5c226'

/** The addresses of Safe7579 and its launchpad; clients take them as parameters. */
export const SAFE_7579: Address = '0x7579EE8307284F293B1927136486880611F20002'
export const LAUNCHPAD_7579: Address = '0x7579011aB74c46090561ea277Ba79D510c6C00ff'

/** What Safe 1.4.1 and 1.5.0 are made of. */
export function safeContracts(): readonly { readonly address: Address; readonly code: Hex }[] {
  return Object.values(SAFES).flatMap(({ build, at }) =>
    Object.entries(at).map(([path, address]) => {
      const name = path.split('/').at(-1)
      return { address, code: artifactCode(`${build}/${path}.sol/${name}.json`) }
    }),
  )
}

/** Safe 1.4.1 and 1.5.0 with module 0.3.0 for EntryPoint v0.7, at their addresses. */
export async function placeSafe(rpcUrl: string): Promise<void> {
  for (const { address, code } of safeContracts()) await constructAt(rpcUrl, address, code)
  const moduleCode = (name: string) => artifactCode(`${MODULE_BUILD}/${name}.sol/${name}.json`)
  await constructAt(rpcUrl, MODULE_SETUP, moduleCode('SafeModuleSetup'))
  await constructAt(rpcUrl, MODULE, moduleCode('Safe4337Module'), [entryPoint07Address])
}

/** Safe7579 1.0.0 and its launchpad; the registry of modules is a model. */
export async function placeSafe7579(rpcUrl: string): Promise<void> {
  await placeRegistry(rpcUrl)
  const code = (name: string) => modulekitCode('Safe7579Precompiles', name)
  await constructAt(rpcUrl, SAFE_7579, code('SAFE7579_BYTECODE'))
  const launchpadArgs = [entryPoint07Address, REGISTRY]
  await constructAt(rpcUrl, LAUNCHPAD_7579, code('SAFE7579_LAUNCHPAD_BYTECODE'), launchpadArgs)
}
