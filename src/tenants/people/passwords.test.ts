import { scrypt } from 'node:crypto'
import { expect, test } from 'vitest'
import { RateLimitError } from '../../base/errors/limitErrors.js'
import { createPasswords, type Derive } from './passwords.js'

const nobody = async () => undefined

/** scrypt as it is, with a record of what it was asked, and held until `let go`. */
function watched() {
  const asked: { password: string; length: number; cost: string }[] = []
  const waiting: (() => void)[] = []
  let isOpen = true
  const derive: Derive = async (password, salt, length, options) => {
    const { N, r, p } = options
    asked.push({ password, length, cost: `${N} ${r} ${p}` })
    if (!isOpen) await new Promise<void>((resolve) => waiting.push(resolve))
    return new Promise((resolve, reject) => {
      const done = (error: Error | null, key: Buffer) => (error ? reject(error) : resolve(key))
      scrypt(password, salt, length, options, done)
    })
  }
  return {
    asked,
    derive,
    hold: () => {
      isOpen = false
    },
    release: () => {
      isOpen = true
      for (const go of waiting.splice(0)) go()
    },
  }
}

test('a password fits its own hash and no other, however a keyboard composes it', async () => {
  const passwords = createPasswords()
  const stored = await passwords.hash('caf\u00e9 au lait, twice', 'a')
  expect(stored).toMatch(/^\$scrypt\$ln=15,r=8,p=3\$[A-Za-z0-9+/]{22}\$[A-Za-z0-9+/]{43}$/)
  expect(await passwords.verify(async () => stored, 'cafe\u0301 au lait, twice', 'a')).toBe(stored)
  expect(await passwords.verify(async () => stored, 'cafe au lait, twice', 'a')).toBeUndefined()
  expect(await passwords.hash('caf\u00e9 au lait, twice', 'a')).not.toBe(stored)
})

test('nobody is compared like everybody: the same work, whatever is stored', async () => {
  const { asked, derive } = watched()
  const passwords = createPasswords(derive)
  const stored = await passwords.hash('the right password', 'a')
  asked.length = 0
  expect(await passwords.verify(async () => stored, 'wrong', 'a')).toBeUndefined()
  expect(await passwords.verify(nobody, 'wrong', 'a')).toBeUndefined()
  expect(asked).toHaveLength(2)
  expect(asked[0]).toEqual(asked[1])
})

test('two are hashed at once, twenty wait, four of one network; the others are refused at once', async () => {
  const { asked, derive, hold, release } = watched()
  const passwords = createPasswords(derive)
  hold()
  const greedy = Array.from({ length: 10 }, () => passwords.verify(nobody, 'x', 'greedy'))
  const others = Array.from({ length: 30 }, (_, i) => passwords.verify(nobody, 'x', `net ${i}`))
  const outcomes = Promise.allSettled([...greedy, ...others])
  await new Promise(setImmediate)
  expect(asked).toHaveLength(2)
  release()
  const refused = (await outcomes).map((each) => each.status === 'rejected' && each.reason)
  expect(refused.slice(0, 10).filter(Boolean)).toHaveLength(6)
  // Two run and twenty wait: four of the greedy network and eighteen of the others.
  expect(refused.slice(10).filter(Boolean)).toHaveLength(12)
  for (const reason of refused.filter(Boolean)) expect(reason).toBeInstanceOf(RateLimitError)
  expect(await passwords.verify(nobody, 'x', 'greedy')).toBeUndefined()
}, 60_000)
