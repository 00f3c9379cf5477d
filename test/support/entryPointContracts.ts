import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { type Address, concat, getCreate2Address, type Hex } from 'viem'
import type { Version } from '../../src/entrypoint/entryPoint.js'
import type { Anvil } from './startAnvil.js'

const DEPLOYER: Address = '0x4e59b44847b379578588920ca78fbf26c0b4956c'

const packages: Readonly<Record<Version, { readonly name: string; readonly salt: Hex }>> = {
  '0.6': { name: 'account-abstraction-v06', salt: `0x${'0'.repeat(64)}` },
  '0.7': {
    name: 'account-abstraction-v07',
    salt: '0x90d8084deab30c2a37c45e8d47f49f2f7965183cb6990a98943ef94940681de3',
  },
  '0.8': {
    name: 'account-abstraction-v08',
    salt: '0x0a59dbff790c23c976a548690c27297883cc66b4c67024f9117b0238995e35e9',
  },
  '0.9': { name: 'account-abstraction-v09', salt: `0x${'0'.repeat(64)}` },
}

const artifactPath = (version: Version): string =>
  createRequire(import.meta.url).resolve(`${packages[version].name}/artifacts/EntryPoint.json`)

/** v0.9 is not among our dependencies: its tests run where `account-abstraction-v09` is installed. */
export const canDeploy = (version: Version): boolean => {
  if (version !== '0.9') return true
  try {
    return artifactPath(version) !== ''
  } catch {
    return false
  }
}

/** Deploys the authors' EntryPoint and returns its address, the canonical one up to v0.8. */
export const deployEntryPoint = async (anvil: Anvil, version: Version): Promise<Address> => {
  const artifact = readFileSync(artifactPath(version), 'utf8')
  const { bytecode } = JSON.parse(artifact) as { bytecode: Hex }
  const { salt } = packages[version]
  const receipt = await anvil.send({ to: DEPLOYER, data: concat([salt, bytecode]) })
  if (receipt.status !== '0x1') throw new Error(`deployment of EntryPoint v${version} failed`)
  return getCreate2Address({ from: DEPLOYER, salt, bytecode }).toLowerCase() as Address
}
