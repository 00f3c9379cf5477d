import { createRequire } from 'node:module'
import { DevChainError } from './devChainError.js'

const platforms: Readonly<Record<string, string>> = {
  'darwin-arm64': 'darwin-arm64',
  'darwin-x64': 'darwin-amd64',
  'linux-arm64': 'linux-arm64',
  'linux-x64': 'linux-amd64',
}

/**
 * Path of the anvil binary that npm installed for this platform.
 * @throws DevChainError when there is none
 */
export function anvilBinary(platform = process.platform, arch = process.arch): string {
  const name = platforms[`${platform}-${arch}`]
  if (name === undefined) {
    throw new DevChainError(
      `The embedded chain has no binary for ${platform}-${arch}: run a node yourself and give --rpc-url.`,
    )
  }
  try {
    const wrapper = createRequire(import.meta.url).resolve('@foundry-rs/anvil/bin.mjs')
    return createRequire(wrapper).resolve(`@foundry-rs/anvil-${name}/bin/anvil`)
  } catch {
    throw new DevChainError(
      `The optional package @foundry-rs/anvil-${name} is missing: install without --omit=optional, or give --rpc-url.`,
    )
  }
}
