/** Bytes `from` to `from + size` of `input`, with zeros where it has ended. */
export function bytesAt(input: Uint8Array, from: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  if (from < input.length) bytes.set(input.subarray(from, from + size))
  return bytes
}

export function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0)
}
