/** The service lock on the database was lost with its session, and another process took it. */
export class ServiceLockLostError extends Error {
  override readonly name = 'ServiceLockLostError'
  constructor() {
    super('Another Purser has begun to run on this database, so this one ends.')
  }
}
