import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'

const cipher = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** nonce(12) | ciphertext | tag(16). `masterKey` has 32 bytes. */
export const encryptSecret = (masterKey: Buffer, secret: string): Buffer => {
  const nonce = randomBytes(nonceBytes)
  const encryption = createCipheriv(cipher, masterKey, nonce)
  const text = Buffer.concat([encryption.update(secret, 'utf8'), encryption.final()])
  return Buffer.concat([nonce, text, encryption.getAuthTag()])
}

/** Throws when `sealed` was not encrypted under this key or was changed. */
export const decryptSecret = (masterKey: Buffer, sealed: Buffer): string => {
  const decryption = createDecipheriv(cipher, masterKey, sealed.subarray(0, nonceBytes))
  decryption.setAuthTag(sealed.subarray(-tagBytes))
  const text = decryption.update(sealed.subarray(nonceBytes, -tagBytes))
  return Buffer.concat([text, decryption.final()]).toString('utf8')
}
