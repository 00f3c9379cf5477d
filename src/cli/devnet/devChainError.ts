/** The development chain cannot start or be prepared. One sentence that says what to do. */
export class DevChainError extends Error {
  override readonly name = 'DevChainError'
}
