import { ConfigError } from '../errors/configError.js'
import type { AuditChange } from '../store/tenants/audit.js'
import {
  findKeyCheck,
  lockKeyCheck,
  lockSecretColumns,
  putKeyCheck,
  replaceSecret,
  type StoredSecret,
} from '../store/tenants/storedSecrets.js'
import { checkOf, opensCheck, purposeOf } from './masterKey.js'
import { encryptSecret, tryDecrypt } from './secrets.js'

/** The number of secrets that got the new key, that had it already, and that neither key decrypts. */
export type Rewrapped = {
  readonly rewrapped: number
  readonly already: number
  readonly lost: readonly Pick<StoredSecret, 'kind' | 'id'>[]
}

/**
 * Encrypts every secret with another master key, which becomes the database's: all of it in one transaction, so that
 * a command that is killed has changed nothing. A second run finds what a process with the old key stored since.
 * @throws ConfigError when neither key is the database's, or both are the same
 */
export async function rewrapSecrets(
  { trx, record }: AuditChange,
  oldKey: Buffer,
  newKey: Buffer,
): Promise<Rewrapped> {
  if (oldKey.equals(newKey)) throw new ConfigError('The new master key is the old one.')
  await lockKeyCheck(trx)
  const check = await findKeyCheck(trx)
  if (check !== undefined && !opensCheck(oldKey, check) && !opensCheck(newKey, check))
    throw new ConfigError(
      'Neither the master key nor the new one is the key of this database: see `purser keys check`.',
    )
  let rewrapped = 0
  let already = 0
  const lost: Pick<StoredSecret, 'kind' | 'id'>[] = []
  for (const stored of await lockSecretColumns(trx)) {
    const { kind, id, secret } = stored
    const purpose = purposeOf(kind)
    const text = tryDecrypt(oldKey, purpose, secret)
    if (text !== undefined) {
      const sealed = encryptSecret(newKey, purpose, text)
      if (tryDecrypt(newKey, purpose, sealed) !== text) throw new Error('a secret changed')
      await replaceSecret(trx, stored, sealed)
      rewrapped += 1
    } else if (tryDecrypt(newKey, purpose, secret) !== undefined) already += 1
    else lost.push({ kind, id })
  }
  await putKeyCheck(trx, checkOf(newKey))
  const entry = { objectId: 'master key', accountId: null, appId: null }
  await record({ action: 'keys.rewrap', ...entry, after: { rewrapped, already, lost } })
  return { rewrapped, already, lost }
}
