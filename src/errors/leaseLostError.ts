/**
 * Another process holds the lease now: this one has written nothing, and may not write any more.
 */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
  constructor(lease: string) {
    super(`Another process has taken the lease "${lease}".`)
  }
}
