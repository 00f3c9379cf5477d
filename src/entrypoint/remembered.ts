import type { Operation } from './operation.js'

/** `encode`, done once for each operation: one on its way to the chain is encoded a dozen times. */
export const remembered = (encode: (op: Operation) => string): ((op: Operation) => string) => {
  const known = new WeakMap<Operation, string>()
  return (op) => {
    const before = known.get(op)
    if (before !== undefined) return before
    const encoded = encode(op)
    known.set(op, encoded)
    return encoded
  }
}
