import type { Address, Hex } from 'viem'

class MalformedAbi extends Error {
  override readonly name = 'MalformedAbi'
}

const ZEROS = '0'.repeat(64)
const HEX = /^0x(?:[0-9a-f]{2})*$/

/**
 * Reads ABI words from hex text that anybody may have written. Every read is bounded by the data;
 * `bytes` fields together may not be longer than the data, so that overlapping offsets cannot
 * multiply a small input into a large result. Use it inside `readAbi`.
 */
export class AbiReader {
  readonly #hex: string
  #bytesLeft: number

  constructor(hex: string) {
    this.#hex = hex
    this.#bytesLeft = hex.length / 2
  }

  /** The word at byte `position`, 64 hex digits. */
  word(position: number): string {
    const start = position * 2
    if (start + 64 > this.#hex.length) throw new MalformedAbi()
    return this.#hex.slice(start, start + 64)
  }

  uint(position: number): bigint {
    return BigInt(`0x${this.word(position)}`)
  }

  /** An unsigned integer that is an index, a length, a time: below 2^48. */
  number(position: number): number {
    const word = this.word(position)
    if (!word.startsWith(ZEROS.slice(12))) throw new MalformedAbi()
    return Number.parseInt(word.slice(52), 16)
  }

  boolean(position: number): boolean {
    const value = this.number(position)
    if (value > 1) throw new MalformedAbi()
    return value === 1
  }

  address(position: number): Address {
    const word = this.word(position)
    if (!word.startsWith(ZEROS.slice(40))) throw new MalformedAbi()
    return `0x${word.slice(24)}`
  }

  /** The `bytes` or `string` whose offset from `base` stands at byte `position`. */
  bytes(base: number, position: number): Hex {
    const start = base + this.number(position)
    const length = this.number(start)
    const from = (start + 32) * 2
    if (from + length * 2 > this.#hex.length || length > this.#bytesLeft) throw new MalformedAbi()
    this.#bytesLeft -= length
    return `0x${this.#hex.slice(from, from + length * 2)}`
  }
}

/** The result of reading what follows the 4-byte `selector`; undefined when `data` is not that. */
export const readAbi = <T>(
  data: Hex,
  selector: Hex,
  read: (reader: AbiReader) => T,
): T | undefined => {
  const lower = data.toLowerCase()
  if (!lower.startsWith(selector) || !HEX.test(lower)) return undefined
  try {
    return read(new AbiReader(lower.slice(10)))
  } catch (error) {
    if (error instanceof MalformedAbi) return undefined
    throw error
  }
}

/** Rejects what is read as not of the expected form. Only inside `readAbi`. */
export const malformed = (): never => {
  throw new MalformedAbi()
}
