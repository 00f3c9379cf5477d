/**
 * The id of an operation's trace: the first 16 bytes of its hash. Every process knows it without being told, and
 * so does anybody with the hash.
 */
export function traceIdOf(userOpHash: string): string {
  return userOpHash.slice(2, 34)
}
