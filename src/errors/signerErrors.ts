/**
 * A key in a key service cannot sign now, or not at all. The error says nothing about any
 * operation.
 */
export class SignerUnavailableError extends Error {
  override readonly name = 'SignerUnavailableError'
  constructor(keyId: string, reason: string, cause?: unknown) {
    super(`The key service cannot sign with executor key ${keyId} (${reason}).`, { cause })
  }
}
