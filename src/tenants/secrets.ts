import { createCipheriv, createDecipheriv, randomBytes, randomUUID } from 'node:crypto'
import { existsSync, linkSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ConfigError } from '../base/errors/configError.js'

/** The use of a secret; one encrypted for another purpose does not decrypt. */
export type SecretPurpose = 'tank signer' | 'webhook signature' | 'master key check'

const VERSION = 1
const NONCE = 12
const TAG = 16

/**
 * The text encrypted by AES-256-GCM under the master key: version(1) | nonce(12) | tag(16) | text.
 * @param purpose the use of the secret; one encrypted for another purpose does not decrypt
 */
export function encryptSecret(masterKey: Buffer, purpose: string, text: string): Buffer {
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', masterKey, nonce).setAAD(Buffer.from(purpose))
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.of(VERSION), nonce, cipher.getAuthTag(), encrypted])
}

/**
 * The text of an encrypted secret. @throws ConfigError when the master key is another one, or the
 * bytes were changed
 */
export function decryptSecret(masterKey: Buffer, purpose: string, bytes: Buffer): string {
  const text = tryDecrypt(masterKey, purpose, bytes)
  if (text !== undefined) return text
  throw new ConfigError(
    `A stored secret (${purpose}) does not decrypt: the master key is not the one it was stored with.`,
  )
}

/** By master key, the one before it, which decrypts too until everything is rewrapped. */
const previousKeys = new WeakMap<Buffer, Buffer>()

/** The same, but undefined where the secret does not decrypt. */
export function tryDecrypt(masterKey: Buffer, purpose: string, bytes: Buffer): string | undefined {
  const text = openWith(masterKey, purpose, bytes)
  const previous = previousKeys.get(masterKey)
  return text ?? (previous && openWith(previous, purpose, bytes))
}

function openWith(masterKey: Buffer, purpose: string, bytes: Buffer): string | undefined {
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
    return undefined
  }
}

/** A master key in hex or base64; undefined = the text is none. */
export function parseMasterKey(text: string): Buffer | undefined {
  const key = /^(0x)?[0-9a-fA-F]{64}$/.test(text)
    ? Buffer.from(text.replace(/^0x/, ''), 'hex')
    : Buffer.from(text, 'base64')
  return key.length === 32 ? key : undefined
}

/**
 * Creates the key file, whole or not at all, and on disk before anything is encrypted with the key.
 */
function createKeyFile(file: string): void {
  const draft = `${file}.${randomUUID()}`
  writeFileSync(draft, `${newMasterKey()}\n`, {
    mode: 0o600,
    flag: 'wx',
    flush: true,
  })
  try {
    linkSync(draft, file)
  } catch (error) {
    // Another process was quicker: its key is the one.
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    rmSync(draft)
  }
}

/** The file in the data folder that holds the master key, where none is configured. */
export function masterKeyFile(dataFolder: string): string {
  return join(dataFolder, 'master.key')
}

/** A new master key, as its file holds it. */
export function newMasterKey(): string {
  return randomBytes(32).toString('hex')
}

/**
 * The master key: the configured one, else that in the data folder; undefined = there is none. With the one before it
 * where that is configured: it decrypts too.
 * @throws ConfigError when it is no 32 bytes
 */
export function readMasterKey(
  configured: string | undefined,
  dataFolder: string,
  previous?: string | undefined,
): Buffer | undefined {
  const file = masterKeyFile(dataFolder)
  if (configured === undefined && !existsSync(file)) return undefined
  const key = parseMasterKey(configured ?? readFileSync(file, 'utf8').trim())
  if (key === undefined) {
    const where = configured === undefined ? `in ${file}` : '(PURSER_MASTER_KEY)'
    throw new ConfigError(`The master key ${where} must be 32 bytes in hex or base64.`)
  }
  if (previous !== undefined) {
    const before = parseMasterKey(previous)
    if (before === undefined)
      throw new ConfigError('PURSER_MASTER_KEY_PREVIOUS must be 32 bytes in hex or base64.')
    previousKeys.set(key, before)
  }
  return key
}

/**
 * As above, but a key that is missing is created in the data folder, once and readable by its owner only.
 * Only for a database that has no secrets yet: see `requireMasterKey`.
 */
export function loadMasterKey(configured: string | undefined, dataFolder: string): Buffer {
  const file = masterKeyFile(dataFolder)
  if (configured === undefined && !existsSync(file)) createKeyFile(file)
  const key = readMasterKey(configured, dataFolder)
  if (key === undefined) throw new ConfigError(`The master key ${file} was removed.`)
  return key
}
