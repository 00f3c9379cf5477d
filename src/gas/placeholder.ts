import type { Hex } from 'viem'

/**
 * Bytes that stand in for those which nobody knows yet, such as a signature: none of them is zero, and no
 * compressor makes them shorter, so that they cost at least as much as any others. The same for
 * ever, so that an estimate repeats; different `place`s get different bytes.
 */
export function placeholder(length: number, place: number): Hex {
  let state = (place * 0x9e37_79b9 + 0x7f4a_7c15) >>> 0
  let hex = ''
  for (let at = 0; at < length; at++) {
    // The xorshift generator of 32 bits.
    state ^= state << 13
    state ^= state >>> 17
    state ^= state << 5
    hex += (1 + ((state >>> 8) % 255)).toString(16).padStart(2, '0')
  }
  return `0x${hex}`
}

/** A number of as many bytes as `value` has, none of them zero. */
export function placeholderOfWidth(value: bigint, place: number): bigint {
  const bytes = value === 0n ? 0 : Math.ceil(value.toString(16).length / 2)
  return bytes === 0 ? 0n : BigInt(placeholder(bytes, place))
}
