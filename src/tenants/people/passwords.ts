import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto'
import { RateLimitError } from '../../base/errors/limitErrors.js'
import { WeakPasswordError } from '../../base/errors/restErrors.js'

export type Passwords = ReturnType<typeof createPasswords>

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

/**
 * Hashes passwords and compares them, off the event loop and a few at a time.
 * @param requester - of `hash` and `verify`: the network for which it is done, or a command
 */
export function createPasswords(derive: Derive = scryptInPool) {
  const turns = createTurns()
  const keyOf = (password: string, salt: Buffer, { ln, r, p }: Cost): Promise<Buffer> =>
    // The same text however a keyboard composes its letters. scrypt takes 128 * N * r bytes, and a little more.
    derive(password.normalize('NFKC'), salt, KEY_BYTES, {
      N: 2 ** ln,
      r,
      p,
      maxmem: 2 ** (ln + 8) * r,
    })

  return {
    /** scrypt in PHC form. Throws RateLimitError while too many passwords are being hashed. */
    hash: (password: string, requester: string): Promise<string> =>
      turns.take(requester, async () => {
        const salt = randomBytes(SALT_BYTES)
        return encode(cost, salt, await keyOf(password, salt, cost))
      }),
    /**
     * The hash that `find` gives, if the password is the one of it; undefined = it is not. Without a hash it takes as
     * long. `find` runs once the password has its turn: what is refused before has done nothing. Throws RateLimitError
     * like `hash`, and what `find` throws.
     */
    verify: (
      find: () => Promise<string | undefined>,
      password: string,
      requester: string,
    ): Promise<string | undefined> =>
      turns.take(requester, async () => {
        const stored = await find()
        const { salt, key, cost: usedCost } = decode(stored ?? nobody)
        return timingSafeEqual(await keyOf(password, salt, usedCost), key) ? stored : undefined
      }),
  }
}

/** Passwords hashed at once: the pool of threads has four, which also read files and names. */
const RUNNING = 2
/** Those that wait, for some three seconds. */
const WAITING = 20
/** Of one network, running or waiting: one client that fills the queue must not lock out others. */
const PER_REQUESTER = 4

/** Lets a few pieces of work run at once and a bounded number wait, in their order. */
function createTurns() {
  const waiting: (() => void)[] = []
  const held = new Map<string, number>()
  let running = 0

  const leave = (requester: string): void => {
    const left = (held.get(requester) ?? 1) - 1
    if (left === 0) held.delete(requester)
    else held.set(requester, left)
    const next = waiting.shift()
    if (next === undefined) running -= 1
    else next()
  }

  return {
    /** Throws RateLimitError when the queue is full, or the requester has its share of it. */
    async take<Result>(requester: string, work: () => Promise<Result>): Promise<Result> {
      const count = held.get(requester) ?? 0
      if (count >= PER_REQUESTER || waiting.length >= WAITING)
        throw new RateLimitError('passwords', 1)
      held.set(requester, count + 1)
      if (running < RUNNING) running += 1
      else await new Promise<void>((resolve) => waiting.push(resolve))
      try {
        return await work()
      } finally {
        leave(requester)
      }
    },
  }
}

/** The bounds of a password, in characters; the longest takes as long to hash as the shortest. */
const passwordLength = { least: 12, most: 128 } as const

/** Words that lists of stolen passwords are made of. */
const commonWords =
  /passwor[dt]|p[a@]ssw[o0]rd|qwert[yz]u?i?o?p?|asdfg?h?j?k?l?|zxcvb?n?m?|letmein|welcome|administrator|admin|purser|iloveyou|monkey|dragon|master|football|baseball|superman|batman|sunshine|princess|shadow|michael|trustno|changeme|secret|login|hello|summer|winter|spring|autumn|default|root|user|test|abc|xyz/g
/** The least number of different characters without common words, digits in a row and the user's own name. */
const LEAST_OTHERS = 5

/**
 * Refuses what is guessed first. No rule on kinds of characters: length is what counts.
 * @throws WeakPasswordError
 */
export function requireGoodPassword(password: string, email: string): void {
  const length = [...password].length
  if (length < passwordLength.least || length > passwordLength.most)
    throw new WeakPasswordError(
      `must have ${passwordLength.least} to ${passwordLength.most} characters`,
    )
  const names = email.split(/[@._+-]/).filter((part) => part.length >= 3)
  let rest = password.toLowerCase()
  for (const name of names) rest = rest.replaceAll(name, '')
  rest = rest
    .replace(commonWords, '')
    .replace(/\d{2,}/g, '')
    .replace(/(.)\1+/gu, '$1')
  if (new Set(rest).size < LEAST_OTHERS)
    throw new WeakPasswordError('is easy to guess: use several unrelated words')
}
