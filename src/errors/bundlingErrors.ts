import { PurserError } from './purserError.js'

/** A requested bundle was not mined, or could not be made, in time. */
export class SendingTimeoutError extends PurserError {
  override readonly name = 'SendingTimeoutError'
  /** @param waited milliseconds */
  constructor(waited: number, inFlight: number) {
    const what =
      inFlight > 0
        ? `${inFlight} of our transactions are not mined yet`
        : 'no bundle could be made, because the chain could not be followed'
    super(`After ${waited / 1000} s ${what}. See the service's log, then try again.`, {
      code: -32603,
      status: 504,
    })
  }
}
