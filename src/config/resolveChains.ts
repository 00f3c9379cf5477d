import type { Hex } from 'viem'
import type { ChainDefinition } from '../chain/definition.js'
import { ConfigError } from '../errors/configError.js'
import { toChainDefinition } from './chainSchema.js'
import type { Config } from './options.js'

const PRIVATE_KEY = /^0x[0-9a-fA-F]{64}$/

/**
 * The configured chains with executor keys looked up.
 * @throws ConfigError when a chain is named twice or an `env:NAME` key is not set
 */
export const resolveChains = (
  chains: Config['chains'],
  environment: Readonly<Record<string, string | undefined>>,
): readonly ChainDefinition[] => {
  const resolveKey = (reference: string): Hex => {
    if (!reference.startsWith('env:')) return reference as Hex
    const name = reference.slice('env:'.length)
    const key = environment[name]
    if (key === undefined || !PRIVATE_KEY.test(key))
      throw new ConfigError(
        `${name} must hold the private key of an executor (0x and 64 hex digits).`,
      )
    return key as Hex
  }
  const ids = chains.map((chain) => chain.chainId)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) throw new ConfigError(`Chain ${twice} is configured twice.`)
  return chains.map((chain) => toChainDefinition(chain, resolveKey))
}
