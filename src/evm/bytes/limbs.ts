import type { Address, Hex } from 'viem'

/**
 * Addresses and slots as map keys: their 32-bit limbs (least significant first) as UTF-16 units.
 * Many times cheaper to make from the stack than hex.
 */
export function addressKey(limbs: Uint32Array, at: number): string {
  const a = limbs[at]!
  const b = limbs[at + 1]!
  const c = limbs[at + 2]!
  const d = limbs[at + 3]!
  const e = limbs[at + 4]!
  return String.fromCharCode(
    a & 0xffff,
    a >>> 16,
    b & 0xffff,
    b >>> 16,
    c & 0xffff,
    c >>> 16,
    d & 0xffff,
    d >>> 16,
    e & 0xffff,
    e >>> 16,
  )
}

/** Key of the 256-bit word whose eight limbs start at `at`. */
export function slotKey(limbs: Uint32Array, at: number): string {
  const a = limbs[at]!
  const b = limbs[at + 1]!
  const c = limbs[at + 2]!
  const d = limbs[at + 3]!
  const e = limbs[at + 4]!
  const f = limbs[at + 5]!
  const g = limbs[at + 6]!
  const h = limbs[at + 7]!
  return String.fromCharCode(
    a & 0xffff,
    a >>> 16,
    b & 0xffff,
    b >>> 16,
    c & 0xffff,
    c >>> 16,
    d & 0xffff,
    d >>> 16,
    e & 0xffff,
    e >>> 16,
    f & 0xffff,
    f >>> 16,
    g & 0xffff,
    g >>> 16,
    h & 0xffff,
    h >>> 16,
  )
}

/** The limbs of an address or word given as hex, least significant first. */
export function limbsOf(hex: Hex, count: number): Uint32Array {
  const limbs = new Uint32Array(count)
  const digits = hex.slice(2).padStart(8 * count, '0')
  for (let i = 0; i < count; i++) {
    const end = digits.length - 8 * i
    limbs[i] = Number.parseInt(digits.slice(end - 8, end), 16)
  }
  return limbs
}

const scratch = Buffer.alloc(32)

/** 0x hex of `count` limbs. */
export function hexOfLimbs(limbs: Uint32Array, at: number, count: number): Hex {
  for (let i = 0; i < count; i++) scratch.writeUInt32BE(limbs[at + i]!, 4 * (count - 1 - i))
  return `0x${scratch.toString('hex', 0, 4 * count)}`
}

/** Lower-case address of the five limbs at `at`. */
export function addressOfLimbs(limbs: Uint32Array, at: number): Address {
  return hexOfLimbs(limbs, at, 5)
}
