import { readFile } from 'node:fs/promises'
import type { Hex } from 'viem'
import { ConfigError } from '../errors/configError.js'
import type { ExecutorSigner } from './executorSigner.js'
import { decryptKeystore } from './keystore.js'
import { type KmsKey, openKmsSigner } from './kmsSigner.js'
import { localSigner } from './localSigner.js'
import type { TransactionType } from './transactionType.js'

/** The place of an executor's key: given here, in an encrypted file, or in a key service. */
export type KeySource =
  | Hex
  | { readonly keystore: string; readonly password: string }
  | { readonly kms: KmsKey }

/**
 * A signer of such transactions over the key of `source`.
 * @throws ConfigError for a keystore that cannot be opened, SignerUnavailableError for a key service
 */
export async function openSigner(
  source: KeySource,
  type: TransactionType = 'eip1559',
): Promise<ExecutorSigner> {
  if (typeof source === 'string') return localSigner(source, type)
  if ('kms' in source) return openKmsSigner(source.kms, type)
  const { keystore, password } = source
  try {
    return localSigner(await decryptKeystore(await readFile(keystore, 'utf8'), password), type)
  } catch (cause) {
    const reason = cause instanceof ConfigError ? cause.message : 'The file cannot be read.'
    throw new ConfigError(`Keystore ${keystore}: ${reason}`, { cause })
  }
}

/** Signers over all of `sources`, in their order. */
export function openSigners(
  sources: readonly KeySource[],
  type?: TransactionType,
): Promise<ExecutorSigner[]> {
  return Promise.all(sources.map((source) => openSigner(source, type)))
}
