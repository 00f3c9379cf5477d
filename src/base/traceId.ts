/**
 * The id of an operation's trace: the first 16 bytes of its hash. Every process can compute it, and
 * so can anybody with the hash.
 */
export function traceIdOf(userOpHash: string): string {
  return userOpHash.slice(2, 34)
}
