/** The right to run on the database broke with its session. */
export class ServiceLockLostError extends Error {
  override readonly name = 'ServiceLockLostError'
  constructor() {
    super('The database ended the session that keeps other services away: start Purser again.')
  }
}
