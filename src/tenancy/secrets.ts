import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../errors/configError.js'

const VERSION = 1
const NONCE = 12
const TAG = 16

/**
 * AES-256-GCM under the master key: version(1) | nonce(12) | tag(16) | text.
 * @param purpose what the secret is for; one encrypted for another purpose does not decrypt
 */
export const encryptSecret = (masterKey: Buffer, purpose: string, text: string): Buffer => {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', masterKey, nonce).setAAD(Buffer.from(purpose))
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), encrypted])
}

/** @throws ConfigError when the master key is another one, or the bytes were changed */
export const decryptSecret = (masterKey: Buffer, purpose: string, bytes: Buffer): string => {
  const nonce = bytes.subarray(1, 1 + NONCE)
  const tag = bytes.subarray(1 + NONCE, 1 + NONCE + TAG)
  try {
    if (bytes[0] !== VERSION) throw new Error('unknown version')
    const decipher = createDecipheriv('aes-256-gcm', masterKey, nonce, { authTagLength: TAG })
      .setAAD(Buffer.from(purpose))
      .setAuthTag(tag)
    const text = [decipher.update(bytes.subarray(1 + NONCE + TAG)), decipher.final()]
    return Buffer.concat(text).toString('utf8')
  } catch {
    throw new ConfigError(
      `A stored secret (${purpose}) does not decrypt: the master key is not the one it was stored with.`,
    )
  }
}

const parseKey = (text: string): Buffer | undefined => {
  const key = /^(0x)?[0-9a-fA-F]{64}$/.test(text)
    ? Buffer.from(text.replace(/^0x/, ''), 'hex')
    : Buffer.from(text, 'base64')
  return key.length === 32 ? key : undefined
}

/**
 * The master key: the configured one, else that in the data folder, which is created once and
 * readable by its owner only.
 * @throws ConfigError when it is no 32 bytes
 */
export const loadMasterKey = (configured: string | undefined, dataFolder: string): Buffer => {
  const file = join(dataFolder, 'master.key')
  if (configured === undefined && !existsSync(file)) {
    const text = randomBytes(32).toString('hex')
    writeFileSync(file, `${text}\n`, { mode: 0o600, flag: 'wx' })
  }
  const key = parseKey(configured ?? readFileSync(file, 'utf8').trim())
  if (key === undefined)
    throw new ConfigError('The master key must be 32 bytes in hex or base64 (PURSER_MASTER_KEY).')
  return key
}
