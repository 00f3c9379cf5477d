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
  EADDRINUSE: 'the port is in use by another process. Choose another port, or 0 for any free one.',
  EACCES: 'this user may not open the port. Choose a port above 1023.',
  EADDRNOTAVAIL: 'the address does not belong to this machine.',
  ENOTFOUND: 'the host name is unknown.',
}
