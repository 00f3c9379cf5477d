import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import {
  type Address,
  concatHex,
  domainSeparator,
  getAddress,
  type Hex,
  numberToHex,
  pad,
  toHex,
  zeroHash,
} from 'viem'
import { type Deployment, deployment } from '../../chain/contracts/deployments.js'
import { canonicalAddresses } from '../../erc4337/canonicalAddresses.js'
import { type Version, versions } from '../../erc4337/versionFacts.js'

/** Every version, the preferred one first. */
export const devVersions: readonly Version[] = versions

/** Code that only a node can put where it belongs, because nobody has what would deploy it there. */
export type Placement = {
  readonly address: Address
  /** As its constructor would leave it on chain `chainId`. */
  readonly code: (chainId: number) => Hex
}

/** The public contracts of one EntryPoint version. Placements come first, then deployments in order. */
export type DevContracts = {
  readonly version: Version
  readonly entryPoint: Address
  /** SimpleAccountFactory for this EntryPoint. */
  readonly factory: Address
  /** Simple7702Account, what an account of EIP-7702 delegates to; v0.8 and later. */
  readonly delegate: Address | undefined
  readonly placements: readonly Placement[]
  readonly deployments: readonly Deployment[]
}

/**
 * The npm packages that hold the code. Those of v0.6 to v0.8 are optional dependencies of ours; v0.9's come with a
 * clone of the source, because `hardhat-predeploy` would bring all of hardhat along.
 */
const packages: Readonly<Record<Version, readonly string[]>> = {
  '0.6': ['account-abstraction-v06'],
  '0.7': ['account-abstraction-v07'],
  '0.8': ['account-abstraction-v08'],
  '0.9': ['account-abstraction-v09-rc', 'hardhat-predeploy'],
}

const load = createRequire(import.meta.url)

/** The packages of `version` that are not installed. */
export function missingPackages(version: Version): readonly string[] {
  return packages[version].filter((name) => {
    try {
      load.resolve(`${name}/package.json`)
      return false
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'MODULE_NOT_FOUND') return true
      throw error
    }
  })
}

/**
 * The contracts of one version. Reads the code from its packages, which must be installed: it is GPL
 * and never becomes part of ours.
 */
export function devContracts(version: Version): DevContracts {
  return contractsOf[version]()
}

/** The contracts by version; a salt is the one with which the artifacts give the canonical address. */
const contractsOf: Readonly<Record<Version, () => DevContracts>> = {
  '0.6': () => createdContracts('0.6', zeroHash),
  '0.7': () =>
    createdContracts('0.7', '0x90d8084deab30c2a37c45e8d47f49f2f7965183cb6990a98943ef94940681de3'),
  '0.8': () =>
    createdContracts(
      '0.8',
      '0x0a59dbff790c23c976a548690c27297883cc66b4c67024f9117b0238995e35e9',
      'Simple7702Account',
    ),
  '0.9': contracts09,
}

/** @param delegateName the contract that accounts of EIP-7702 delegate to, where the version has one */
function createdContracts(version: Version, salt: Hex, delegateName?: string): DevContracts {
  const code = creationCodes(version)
  const entryPoint = deployment(code('EntryPoint'), salt)
  const factory = deployment(concatHex([code('SimpleAccountFactory'), pad(entryPoint.address)]))
  const delegate = delegateName === undefined ? undefined : deployment(code(delegateName))
  return {
    version,
    entryPoint: entryPoint.address,
    factory: factory.address,
    delegate: delegate?.address,
    placements: [],
    deployments: [entryPoint, factory, ...(delegate ? [delegate] : [])],
  }
}

/** The public addresses that the SDKs know. */
const SENDER_CREATOR_09: Address = '0x0a630a99df908a81115a3022927be82f9299987e'
const DELEGATE_09: Address = '0xa46cc63ebf4bd77888aa327837d20b23a63a56b5'

/**
 * npm has the code of EntryPoint v0.9 as it runs on Ethereum, not what creates it. Its accounts are
 * those of the release candidate; where the factory is follows from its code.
 */
function contracts09(): DevContracts {
  const entryPoint = canonicalAddresses['0.9']
  const factory = deployment(
    concatHex([creationCodes('0.9')('SimpleAccountFactory'), pad(entryPoint)]),
  )
  return {
    version: '0.9',
    entryPoint,
    factory: factory.address,
    delegate: DELEGATE_09,
    placements: [
      { address: entryPoint, code: (chainId) => movedFromEthereum(entryPoint, chainId) },
      { address: SENDER_CREATOR_09, code: () => codeOnEthereum(SENDER_CREATOR_09) },
      { address: DELEGATE_09, code: delegate09 },
    ],
    deployments: [factory],
  }
}

function artifact(version: Version, name: string) {
  return load(`${packages[version][0]}/artifacts/${name}.json`) as {
    readonly bytecode: Hex
    readonly deployedBytecode: Hex
  }
}

function creationCodes(version: Version) {
  return (name: string) => artifact(version, name).bytecode
}

const PUSH32 = '7f'

/** With the EntryPoint's address in the compiler's placeholder. */
function delegate09(): Hex {
  return artifact('0.9', 'Simple7702Account').deployedBytecode.replaceAll(
    PUSH32 + zeroHash.slice(2),
    PUSH32 + pad(canonicalAddresses['0.9']).slice(2),
  ) as Hex
}

function codeOnEthereum(address: Address): Hex {
  return toHex(readFileSync(load.resolve(`hardhat-predeploy/bin/${getAddress(address)}.bytecode`)))
}

function domainOf(entryPoint: Address, chainId: number): string {
  return domainSeparator({
    domain: { name: 'ERC4337', version: '1', chainId, verifyingContract: entryPoint },
  }).slice(2)
}

/**
 * An EntryPoint's code remembers the chain that it was deployed on. It works on others too, but there
 * each operation costs more gas than on a public chain.
 */
function movedFromEthereum(entryPoint: Address, chainId: number): Hex {
  return codeOnEthereum(entryPoint)
    .replace(domainOf(entryPoint, 1), domainOf(entryPoint, chainId))
    .replace(PUSH32 + word(1), PUSH32 + word(chainId)) as Hex
}

function word(value: number): string {
  return numberToHex(value, { size: 32 }).slice(2)
}

type Specs = Readonly<Record<string, string>>
const manifest = JSON.parse(
  readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'),
) as { readonly optionalDependencies: Specs; readonly devDependencies: Specs }

/** The package `name` in the version that we test with, as `npm install` takes it. */
export function packageSpec(name: string): string {
  const specs = { ...manifest.optionalDependencies, ...manifest.devDependencies }
  const spec = specs[name]
  if (spec === undefined) throw new RangeError(`${name} is none of our packages.`)
  return `${name}@${spec}`
}
