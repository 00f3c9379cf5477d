import { createRequire } from 'node:module'
import { concatHex, type Hex, pad, zeroHash } from 'viem'
import { type Deployment, deployment } from '../contracts/deployments.js'
import type { Version } from '../entrypoint/entryPoint.js'

/** Where the public code of one EntryPoint version comes from. */
export type EntryPointSource = {
  readonly version: Version
  /** Folder of artifacts inside an npm package. */
  readonly artifacts: string
  /** The salt with which this code gives the EntryPoint's canonical address. */
  readonly salt: Hex
}

/**
 * What the development chain carries. Versions 0.7 and 0.8 work as further rows, but their packages
 * depend on packages that are not free (BUSL), so only the tests install them.
 */
export const ENTRY_POINT_SOURCES: readonly EntryPointSource[] = [
  { version: '0.6', artifacts: 'account-abstraction-v06/artifacts', salt: zeroHash },
]

/** The public contracts of one EntryPoint version. */
export type DevContracts = {
  readonly version: Version
  readonly entryPoint: Deployment
  /** SimpleAccountFactory for this EntryPoint. */
  readonly factory: Deployment
}

const load = createRequire(import.meta.url)

const creationCode = (artifacts: string, name: string): Hex =>
  (load(`${artifacts}/${name}.json`) as { bytecode: Hex }).bytecode

/**
 * The contracts of one version. Reads the artifacts from their package: they are GPL and never
 * become part of ours.
 */
export const devContracts = ({ version, artifacts, salt }: EntryPointSource): DevContracts => {
  const entryPoint = deployment(creationCode(artifacts, 'EntryPoint'), salt)
  const factory = creationCode(artifacts, 'SimpleAccountFactory')
  return {
    version,
    entryPoint,
    factory: deployment(concatHex([factory, pad(entryPoint.address)])),
  }
}
