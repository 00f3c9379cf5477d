import { readFile } from 'node:fs/promises'
import type { Hex } from 'viem'
import { ConfigError } from '../../base/errors/configError.js'
import type { ExecutorSigner } from './executorTransaction.js'
import { decryptKeystore } from './keystore.js'
import { localSigner } from './localSigner.js'
import { openServiceSigner, type ServiceKey, type SigningReport } from './serviceSigner.js'

/** The place of a key that sends transactions: given here, in an encrypted file, or in services, the preferred first. */
export type KeySource =
  | Hex
  | { readonly keystore: string; readonly password: string }
  | { readonly services: readonly ServiceKey[] }

/**
 * A signer over the key of `source`; `report` hears of each try of a service.
 * @throws ConfigError for a keystore that cannot be opened, SignerUnavailableError for a key service
 */
export async function openSigner(
  source: KeySource,
  report: (report: SigningReport) => void = () => {},
): Promise<ExecutorSigner> {
  if (typeof source === 'string') return localSigner(source)
  if ('services' in source) return openServiceSigner(source.services, report)
  const { keystore, password } = source
  try {
    return localSigner(await decryptKeystore(await readFile(keystore, 'utf8'), password))
  } catch (cause) {
    const reason = cause instanceof ConfigError ? cause.message : 'The file cannot be read.'
    throw new ConfigError(`Keystore ${keystore}: ${reason}`, { cause })
  }
}
