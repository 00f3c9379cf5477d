/** A contract that the protocol itself provides. */
export type Precompile = {
  /** Gas for this input. */
  gas(input: Uint8Array): number
  /** Output, or undefined when the call fails and burns its gas. The result is never a view. */
  run(input: Uint8Array): Uint8Array | undefined
  /** Interpreter steps that take as long as one gas of this, so that a budget of steps holds. */
  stepsPerGas: number
}

/** Bytes `from` to `from + size` of `input`, with zeros where it has ended. */
export function bytesAt(input: Uint8Array, from: number, size: number): Uint8Array {
  const bytes = new Uint8Array(size)
  if (from < input.length) bytes.set(input.subarray(from, from + size))
  return bytes
}

export function isZero(bytes: Uint8Array): boolean {
  return bytes.every((byte) => byte === 0)
}
