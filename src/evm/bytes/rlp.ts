/** An item that RLP can carry: a byte string or a list. */
export type RlpItem = Uint8Array | readonly RlpItem[]

/** Recursive length prefix encoding. */
export function encodeRlp(item: RlpItem): Uint8Array {
  if (item instanceof Uint8Array) {
    if (item.length === 1 && item[0]! < 0x80) return item
    return join([prefix(item.length, 0x80), item])
  }
  const parts = item.map(encodeRlp)
  const size = parts.reduce((sum, part) => sum + part.length, 0)
  return join([prefix(size, 0xc0), ...parts])
}

/** An integer as RLP wants it: big-endian without leading zeros, nothing for zero. */
export function integerBytes(value: bigint): Uint8Array {
  if (value === 0n) return new Uint8Array(0)
  const digits = value.toString(16)
  return new Uint8Array(Buffer.from(digits.length % 2 === 0 ? digits : `0${digits}`, 'hex'))
}

function prefix(size: number, base: number): Uint8Array {
  if (size < 56) return Uint8Array.of(base + size)
  const length = integerBytes(BigInt(size))
  return join([Uint8Array.of(base + 55 + length.length), length])
}

function join(parts: readonly Uint8Array[]): Uint8Array {
  const whole = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0))
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
