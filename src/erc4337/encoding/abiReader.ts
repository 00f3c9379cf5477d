import type { Address, Hex } from 'viem'

class MalformedAbi extends Error {
  override readonly name = 'MalformedAbi'
}

const zeros = '0'.repeat(64)
const hexPattern = /^0x(?:[0-9a-f]{2})*$/

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
    return this.#slice(position, 32)
  }

  uint(position: number): bigint {
    return BigInt(`0x${this.#slice(position, 32)}`)
  }

  /** The 16 bytes at `position`: one half of a word that packs two values. */
  uint128(position: number): bigint {
    return BigInt(`0x${this.#slice(position, 16)}`)
  }

  /** An unsigned integer that is an index, a length, a time: below 2^48. */
  number(position: number): number {
    const word = this.word(position)
    if (!word.startsWith(zeros.slice(12))) throw new MalformedAbi()
    return Number.parseInt(word.slice(52), 16)
  }

  boolean(position: number): boolean {
    const value = this.number(position)
    if (value > 1) throw new MalformedAbi()
    return value === 1
  }

  address(position: number): Address {
    const word = this.word(position)
    if (!word.startsWith(zeros.slice(40))) throw new MalformedAbi()
    return `0x${word.slice(24)}`
  }

  /** The `bytes` or `string` whose offset from `base` stands at byte `position`. */
  bytes(base: number, position: number): Hex {
    const start = base + this.number(position)
    const length = this.number(start)
    if (length > this.#bytesLeft) throw new MalformedAbi()
    this.#bytesLeft -= length
    return `0x${this.#slice(start + 32, length)}`
  }

  /** `length` bytes from byte `position`; unlike `bytes`, without a bound over all that is read. */
  slice(position: number, length: number): Hex {
    return `0x${this.#slice(position, length)}`
  }

  #slice(position: number, length: number): string {
    const start = position * 2
    const end = start + length * 2
    if (end > this.#hex.length) throw new MalformedAbi()
    return this.#hex.slice(start, end)
  }
}

/**
 * The result of reading what follows `selector` (`0x` for plain data, as in logs); undefined when
 * `data` is not that.
 */
export function readAbi<T>(
  data: Hex,
  selector: Hex,
  read: (reader: AbiReader) => T,
): T | undefined {
  const lower = data.toLowerCase()
  if (!lower.startsWith(selector) || !hexPattern.test(lower)) return undefined
  try {
    return read(new AbiReader(lower.slice(selector.length)))
  } catch (error) {
    if (error instanceof MalformedAbi) return undefined
    throw error
  }
}

/** Rejects what is read as not of the expected form. Only inside `readAbi`. */
export function malformed(): never {
  throw new MalformedAbi()
}
