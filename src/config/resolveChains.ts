import { ConfigError } from '../base/errors/configError.js'
import { type ChainDefinition, toChainDefinition } from '../chain/definition/chainDefinition.js'
import type { Config, ProcessRole } from './options.js'
import { type Environment, resolveKey } from './resolveKey.js'

/**
 * The configured chains with everything looked up that keys need: `env:NAME`, passwords, the
 * credentials of the key service. A process that does not bundle gets no keys, and none are looked up
 * for it: it can have the same file without the secrets.
 * @throws ConfigError when a chain is named twice or something is not there
 */
export function resolveChains(
  chains: Config['chains'],
  environment: Environment,
  roles: readonly ProcessRole[],
): readonly ChainDefinition[] {
  const ids = chains.map((chain) => chain.chainId)
  const twice = ids.find((id, index) => ids.indexOf(id) !== index)
  if (twice !== undefined) throw new ConfigError(`Chain ${twice} is configured twice.`)
  const bundles = roles.includes('bundler')
  const keyless = chains.find(({ executorKeys }) => executorKeys.length === 0)
  if (bundles && keyless)
    throw new ConfigError(
      `Chain ${keyless.chainId} has no executorKeys, which a process that bundles needs: add some, or start it with --role api.`,
    )
  const noKeys = {
    executorKeys: [],
    treasury: undefined,
    sending: { way: 'public' as const },
  }
  return chains.map(({ preset: _, ...chain }) =>
    toChainDefinition(bundles ? chain : { ...chain, ...noKeys }, (key) =>
      resolveKey(key, environment),
    ),
  )
}
