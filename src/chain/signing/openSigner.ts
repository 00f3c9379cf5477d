import { readFile } from 'node:fs/promises'
import type { Hex } from 'viem'
import { ConfigError } from '../../base/errors/configError.js'
import type { ExecutorSigner } from './executorTransaction.js'
import { decryptKeystore } from './keystore.js'
import { type KmsKey, openKmsSigner } from './kmsSigner.js'
import { localSigner } from './localSigner.js'

/** The place of an executor's key: given here, in an encrypted file, or in a key service. */
export type KeySource =
  | Hex
  | { readonly keystore: string; readonly password: string }
  | { readonly kms: KmsKey }

/**
 * A signer over the key of `source`.
 * @throws ConfigError for a keystore that cannot be opened, SignerUnavailableError for a key service
 */
export async function openSigner(source: KeySource): Promise<ExecutorSigner> {
  if (typeof source === 'string') return localSigner(source)
  if ('kms' in source) return openKmsSigner(source.kms)
  const { keystore, password } = source
  try {
    return localSigner(await decryptKeystore(await readFile(keystore, 'utf8'), password))
  } catch (cause) {
    const reason = cause instanceof ConfigError ? cause.message : 'The file cannot be read.'
    throw new ConfigError(`Keystore ${keystore}: ${reason}`, { cause })
  }
}

/** Signers over all of `sources`, in their order. */
export function openSigners(sources: readonly KeySource[]): Promise<ExecutorSigner[]> {
  return Promise.all(sources.map(openSigner))
}
