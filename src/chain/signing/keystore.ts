import {
  createDecipheriv,
  pbkdf2 as pbkdf2Callback,
  type ScryptOptions,
  scrypt as scryptCallback,
  timingSafeEqual,
} from 'node:crypto'
import { promisify } from 'node:util'
import type { Hex } from 'viem'
import { bytesToHex, concat, keccak256 } from 'viem/utils'
import { z } from 'zod'
import { ConfigError } from '../../base/errors/configError.js'

const scrypt = promisify<string, Buffer, number, ScryptOptions, Buffer>(scryptCallback)
const pbkdf2 = promisify(pbkdf2Callback)

function bytes(length?: number) {
  return z
    .string()
    .regex(/^(0x)?([0-9a-fA-F]{2})+$/)
    .transform((text) => Buffer.from(text.replace(/^0x/, ''), 'hex'))
    .refine((value) => length === undefined || value.length === length)
}

/** A file must not make us work for minutes or take all memory: 2^20 needs a gigabyte. */
const MOST_SCRYPT_WORK = 2 ** 20
const MOST_ROUNDS = 10_000_000

const derivation = z.discriminatedUnion('kdf', [
  z.object({
    kdf: z.literal('scrypt'),
    kdfparams: z
      .object({
        dklen: z.literal(32),
        n: z.int().min(2).max(MOST_SCRYPT_WORK),
        r: z.int().min(1).max(64),
        p: z.int().min(1).max(64),
        salt: bytes(),
      })
      // RFC 7914, section 2; OpenSSL computes nothing beyond it.
      .refine(({ n, r }) => n < 2 ** (16 * r)),
  }),
  z.object({
    kdf: z.literal('pbkdf2'),
    kdfparams: z.object({
      dklen: z.literal(32),
      c: z.int().min(1).max(MOST_ROUNDS),
      prf: z.literal('hmac-sha256'),
      salt: bytes(),
    }),
  }),
])

const encryption = z
  .object({
    cipher: z.literal('aes-128-ctr'),
    ciphertext: bytes(32),
    cipherparams: z.object({ iv: bytes(16) }),
    mac: bytes(32),
  })
  .and(derivation)

const version = z.literal(3)

/** ethers writes `Crypto`, as geth did once; all others write `crypto`. */
const keystoreSchema = z.union([
  z.object({ version, crypto: encryption }),
  z
    .object({ version, Crypto: encryption })
    .transform((keystore) => ({ version: keystore.version, crypto: keystore.Crypto })),
])

/**
 * The private key in a keystore file (Web3 Secret Storage, version 3; scrypt or PBKDF2), as geth,
 * Foundry, ethers and most wallets write them.
 * @throws ConfigError when the file is something else or the password is wrong
 */
export async function decryptKeystore(content: string, password: string): Promise<Hex> {
  const { crypto } = parse(content)
  const derived = await deriveKey(crypto, password)
  const mac = keccak256(concat([derived.subarray(16), crypto.ciphertext]), 'bytes')
  if (!timingSafeEqual(mac, crypto.mac))
    throw new ConfigError('The password does not decrypt the keystore.')
  const decipher = createDecipheriv('aes-128-ctr', derived.subarray(0, 16), crypto.cipherparams.iv)
  return bytesToHex(Buffer.concat([decipher.update(crypto.ciphertext), decipher.final()]))
}

function parse(content: string): z.output<typeof keystoreSchema> {
  try {
    return keystoreSchema.parse(JSON.parse(content))
  } catch {
    // What was read may hold a key, so nothing of it is shown.
    throw new ConfigError('The file is not a version 3 keystore with a 32-byte key.')
  }
}

function deriveKey(parameters: z.output<typeof derivation>, password: string): Promise<Buffer> {
  if (parameters.kdf === 'pbkdf2') {
    const { salt, c, dklen } = parameters.kdfparams
    return pbkdf2(password, salt, c, dklen, 'sha256')
  }
  const { salt, n, r, p, dklen } = parameters.kdfparams
  return scrypt(password, salt, dklen, { N: n, r, p, maxmem: 256 * n * r + 1024 * r * p })
}
