import type { Precompile } from './precompile.js'

/** 0x09 (EIP-152): the compression function of BLAKE2b, for a chosen number of rounds. */
export const blake2f: Precompile = {
  stepsPerGas: 25,
  gas: (input) => (input.length === SIZE ? view(input).getUint32(0) : 0),
  run: (input) => {
    const last = input[SIZE - 1]
    if (input.length !== SIZE || last! > 1) return undefined
    return compress(view(input), last === 1)
  },
}

const SIZE = 213

/** First 64 bits of the fractions of the square roots of the first eight primes: high, low. */
const start = Uint32Array.of(
  0x6a09e667,
  0xf3bcc908,
  0xbb67ae85,
  0x84caa73b,
  0x3c6ef372,
  0xfe94f82b,
  0xa54ff53a,
  0x5f1d36f1,
  0x510e527f,
  0xade682d1,
  0x9b05688c,
  0x2b3e6c1f,
  0x1f83d9ab,
  0xfb41bd6b,
  0x5be0cd19,
  0x137e2179,
)

/** Order in which each of the ten rounds takes the message words. */
const mixOrder = [
  [0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15],
  [14, 10, 4, 8, 9, 15, 13, 6, 1, 12, 0, 2, 11, 7, 5, 3],
  [11, 8, 12, 0, 5, 2, 15, 13, 10, 14, 3, 6, 7, 1, 9, 4],
  [7, 9, 3, 1, 13, 12, 11, 14, 2, 6, 5, 10, 4, 0, 15, 8],
  [9, 0, 5, 7, 2, 4, 10, 15, 14, 1, 11, 12, 6, 8, 3, 13],
  [2, 12, 6, 10, 0, 11, 8, 3, 4, 13, 7, 5, 15, 14, 1, 9],
  [12, 5, 1, 15, 14, 13, 4, 10, 0, 7, 6, 3, 9, 2, 8, 11],
  [13, 11, 7, 14, 12, 1, 3, 9, 5, 0, 15, 4, 8, 6, 2, 10],
  [6, 15, 14, 9, 11, 3, 0, 8, 12, 2, 13, 7, 1, 4, 10, 5],
  [10, 2, 8, 4, 7, 6, 1, 5, 15, 11, 9, 14, 3, 12, 13, 0],
].map((row) => Uint8Array.from(row))

/** Columns, then diagonals, of the 4 by 4 state. */
const lanes = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
] as const

function view(input: Uint8Array): DataView {
  return new DataView(input.buffer, input.byteOffset, input.length)
}

/** Words are pairs (high, low) of 32 bits at 2i and 2i + 1. */
function compress(input: DataView, isLast: boolean): Uint8Array {
  const rounds = input.getUint32(0)
  const state = words(input, 4, 8)
  const message = words(input, 68, 16)
  const offset = words(input, 196, 2)
  const v = new Uint32Array(32)
  v.set(state)
  v.set(start, 16)
  for (let i = 0; i < 4; i++) v[24 + i]! ^= offset[i]!
  if (isLast) {
    v[28]! ^= 0xffffffff
    v[29]! ^= 0xffffffff
  }
  for (let round = 0; round < rounds; round++) {
    const order = mixOrder[round % 10]!
    for (let i = 0; i < 8; i++) {
      const [a, b, c, d] = lanes[i]!
      mix(v, 2 * a, 2 * b, 2 * c, 2 * d, message, 2 * order[2 * i]!, 2 * order[2 * i + 1]!)
    }
  }
  const output = new DataView(new ArrayBuffer(64))
  for (let i = 0; i < 8; i++) {
    output.setUint32(8 * i + 4, state[2 * i]! ^ v[2 * i]! ^ v[2 * i + 16]!, true)
    output.setUint32(8 * i, state[2 * i + 1]! ^ v[2 * i + 1]! ^ v[2 * i + 17]!, true)
  }
  return new Uint8Array(output.buffer)
}

function words(input: DataView, from: number, count: number): Uint32Array {
  const pairs = new Uint32Array(2 * count)
  for (let i = 0; i < count; i++) {
    pairs[2 * i] = input.getUint32(from + 8 * i + 4, true)
    pairs[2 * i + 1] = input.getUint32(from + 8 * i, true)
  }
  return pairs
}

/** The function G of BLAKE2b on four words of `v` and two of the message. */
function mix(
  v: Uint32Array,
  a: number,
  b: number,
  c: number,
  d: number,
  message: Uint32Array,
  x: number,
  y: number,
): void {
  addInto(v, a, v, b)
  addInto(v, a, message, x)
  xorRotate(v, d, a, 32)
  addInto(v, c, v, d)
  xorRotate(v, b, c, 24)
  addInto(v, a, v, b)
  addInto(v, a, message, y)
  xorRotate(v, d, a, 16)
  addInto(v, c, v, d)
  xorRotate(v, b, c, 63)
}

/** v[to] += w[from], modulo 2^64 */
function addInto(v: Uint32Array, to: number, w: Uint32Array, from: number): void {
  const low = v[to + 1]! + w[from + 1]!
  v[to + 1] = low
  v[to] = v[to]! + w[from]! + (low > 0xffffffff ? 1 : 0)
}

/** v[to] = (v[to] ^ v[from]) rotated right by `bits` (16, 24, 32 or 63) */
function xorRotate(v: Uint32Array, to: number, from: number, bits: number): void {
  const high = v[to]! ^ v[from]!
  const low = v[to + 1]! ^ v[from + 1]!
  if (bits === 32) {
    v[to] = low
    v[to + 1] = high
  } else if (bits === 63) {
    v[to] = (high << 1) | (low >>> 31)
    v[to + 1] = (low << 1) | (high >>> 31)
  } else {
    v[to] = (high >>> bits) | (low << (32 - bits))
    v[to + 1] = (low >>> bits) | (high << (32 - bits))
  }
}
