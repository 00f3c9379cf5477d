import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { createTurns } from './passwords/createTurns.js'

/** Hashes passwords and compares them, off the event loop and a few at a time. */
export type Passwords = {
  /** scrypt in PHC form. Throws RateLimitError while too many passwords are being hashed. */
  hash(password: string, requester: string): Promise<string>
  /**
   * Whether the password is the one of the hash. Without a hash it takes as long and is false. Throws
   * RateLimitError like `hash`.
   */
  verify(stored: string | undefined, password: string, requester: string): Promise<boolean>
}

/** The function by which a password becomes a key. */
export type Derive = (
  password: string,
  salt: Buffer,
  length: number,
  options: ScryptOptions,
) => Promise<Buffer>

type Cost = { readonly ln: number; readonly r: number; readonly p: number }

/** 32 MiB and a quarter of a second: as costly as OWASP asks of scrypt, and two at once take 64 MiB. */
const cost: Cost = { ln: 15, r: 8, p: 3 }
const SALT_BYTES = 16
const KEY_BYTES = 32
/** What no hash is compared with: a password for it is not known. */
const nobody = encode(cost, Buffer.alloc(SALT_BYTES), Buffer.alloc(KEY_BYTES))

function encode({ ln, r, p }: Cost, salt: Buffer, key: Buffer): string {
  const [saltText, keyText] = [salt, key].map((each) => each.toString('base64').replace(/=+$/, ''))
  return `$scrypt$ln=${ln},r=${r},p=${p}$${saltText}$${keyText}`
}

function decode(stored: string) {
  const match = /^\$scrypt\$ln=(\d+),r=(\d+),p=(\d+)\$([^$]+)\$([^$]+)$/.exec(stored)
  if (match === null) throw new Error('a stored password is no scrypt in PHC form')
  const [, ln, r, p, salt = '', key = ''] = match
  return {
    cost: { ln: Number(ln), r: Number(r), p: Number(p) },
    salt: Buffer.from(salt, 'base64'),
    key: Buffer.from(key, 'base64'),
  }
}

function scryptInPool(
  password: string,
  salt: Buffer,
  length: number,
  options: ScryptOptions,
): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    scrypt(password, salt, length, options, (error, key) => (error ? reject(error) : resolve(key)))
  })
}

/** The same text however a keyboard composes its letters. */
function bytesOf(password: string): string {
  return password.normalize('NFKC')
}

/** @param requester - of `hash` and `verify`: the network for which it is done, or a command */
export function createPasswords(derive: Derive = scryptInPool): Passwords {
  const turns = createTurns()
  const keyOf = (password: string, salt: Buffer, { ln, r, p }: Cost): Promise<Buffer> =>
    // scrypt takes 128 * N * r bytes, and a little more.
    derive(bytesOf(password), salt, KEY_BYTES, { N: 2 ** ln, r, p, maxmem: 2 ** (ln + 8) * r })

  return {
    hash: (password, requester) =>
      turns.take(requester, async () => {
        const salt = randomBytes(SALT_BYTES)
        return encode(cost, salt, await keyOf(password, salt, cost))
      }),
    verify: (stored, password, requester) =>
      turns.take(requester, async () => {
        const { salt, key, cost: usedCost } = decode(stored ?? nobody)
        const isSame = timingSafeEqual(await keyOf(password, salt, usedCost), key)
        return isSame && stored !== undefined
      }),
  }
}
