/** Another process holds the lease now: nothing was written, and nothing may be any more. */
export class LeaseLostError extends Error {
  override readonly name = 'LeaseLostError'
  constructor(lease: string) {
    super(`Another process has taken the lease "${lease}".`)
  }
}
