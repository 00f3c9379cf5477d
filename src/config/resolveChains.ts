import { readFileSync } from 'node:fs'
import type { Hex } from 'viem'
import { ConfigError } from '../base/errors/configError.js'
import {
  type ChainDefinition,
  type KeyReference,
  toChainDefinition,
} from '../chain/definition/chainDefinition.js'
import type { KmsCredentials } from '../chain/signing/kmsSigner.js'
import type { KeySource } from '../chain/signing/openSigner.js'
import type { Config, ProcessRole } from './options.js'

type Environment = Readonly<Record<string, string | undefined>>

const privateKey = /^0x[0-9a-fA-F]{64}$/

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

function resolveKey(reference: KeyReference, environment: Environment): KeySource {
  if (typeof reference === 'string') return resolvePrivateKey(reference, environment)
  if ('kms' in reference) {
    const { keyId, region, endpoint } = reference.kms
    return { kms: { keyId, region, endpoint, credentials: kmsCredentials(environment) } }
  }
  const { keystore, password } = reference
  return { keystore, password: resolvePassword(password, environment) }
}

function resolvePrivateKey(reference: string, environment: Environment): Hex {
  if (!reference.startsWith('env:')) return reference as Hex
  const name = reference.slice('env:'.length)
  const key = environment[name]
  if (key === undefined || !privateKey.test(key))
    throw new ConfigError(
      `${name} must hold a private key (0x and 64 hex digits), as the configuration of a chain says.`,
    )
  return key as Hex
}

function resolvePassword(reference: string, environment: Environment): string {
  const [kind, ...rest] = reference.split(':')
  const where = rest.join(':')
  if (kind === 'file') {
    try {
      return readFileSync(where, 'utf8').replace(/\r?\n$/, '')
    } catch (cause) {
      throw new ConfigError(`The password file ${where} cannot be read.`, { cause })
    }
  }
  const password = environment[where]
  if (password === undefined) throw new ConfigError(`${where} must hold a keystore's password.`)
  return password
}

/** Named as every AWS tool names them. */
function kmsCredentials(environment: Environment): KmsCredentials {
  const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = environment
  if (!AWS_ACCESS_KEY_ID || !AWS_SECRET_ACCESS_KEY)
    throw new ConfigError(
      'AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY must be set for an executor key in KMS.',
    )
  return {
    accessKeyId: AWS_ACCESS_KEY_ID,
    secretAccessKey: AWS_SECRET_ACCESS_KEY,
    sessionToken: AWS_SESSION_TOKEN,
  }
}
