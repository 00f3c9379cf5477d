/** A seeded source of randomness: the same seed gives the same numbers for ever. */
export type Random = {
  /** A whole number from 0 to `below` - 1. */
  below(below: number): number
  /** True once in `n` times. */
  oneIn(n: number): boolean
  pick<T>(choices: readonly T[]): T
  bytes(size: number): Uint8Array
}

/** The mulberry32 generator. */
export function createRandom(seed: number): Random {
  let state = seed >>> 0
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), state | 1)
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61)
    return ((t ^ (t >>> 14)) >>> 0) / 2 ** 32
  }
  const below = (limit: number) => Math.floor(next() * limit)
  return {
    below,
    oneIn: (n) => below(n) === 0,
    pick: (choices) => choices[below(choices.length)]!,
    bytes: (size) => Uint8Array.from({ length: size }, () => below(256)),
  }
}
