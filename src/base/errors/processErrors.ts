/** The HTTP server could not start listening. The message is one sentence for the operator. */
export class ListenError extends Error {
  override readonly name = 'ListenError'
  constructor(host: string, port: number, cause: NodeJS.ErrnoException) {
    super(`Cannot listen on ${host}:${port}: ${reasons[cause.code ?? ''] ?? cause.message}`, {
      cause,
    })
  }
}

const reasons: Readonly<Record<string, string>> = {
  EADDRINUSE:
    'the port is in use by another process. Choose another with --port, or --port 0 for any free one.',
  EACCES: 'this user may not open the port. Choose a port above 1023.',
  EADDRNOTAVAIL: 'the address does not belong to this machine.',
  ENOTFOUND: 'the host name is unknown.',
}

/**
 * Another process holds the lease now: this one has written nothing, and may not write any more.
 */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
  constructor(lease: string) {
    super(`Another process took the lease "${lease}".`)
  }
}

/** The service lock on the database was lost with its session, and another process took it. */
export class ServiceLockLostError extends Error {
  override readonly name = 'ServiceLockLostError'
  constructor() {
    super('Another Purser started on this database, so this one stops.')
  }
}

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
