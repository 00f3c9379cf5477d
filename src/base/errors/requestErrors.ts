import type { RequestCode } from './catalogue.js'
import { suggest } from '../suggest.js'
import { PurserError } from './purserError.js'

/** The body is not JSON. */
export class ParseError extends PurserError {
  constructor() {
    super('The body is not valid JSON.', { code: -32700 })
  }
}

/** The JSON is not a JSON-RPC request. */
export class InvalidRequestError extends PurserError {
  constructor(reason: string) {
    super(`Invalid request: ${reason}`, { code: -32600 })
  }
}

/** The JSON-RPC method does not exist, or is not one of the `known`. */
export class MethodNotFoundError extends PurserError {
  /** @param advice follows the name */
  constructor(method: string, known: readonly string[] = [], advice = suggest(method, known)) {
    super(`Method not supported: ${method.slice(0, 100)}${advice}`, { code: -32601 })
  }
}

/** A parameter or field is missing or malformed. `field` is its path, e.g. `params[0].nonce`. */
export class InvalidParamsError extends PurserError {
  constructor(field: string, reason: string) {
    super(`${field}: ${reason}`, { code: -32602, data: { field } })
  }
}

/** The EntryPoint is not served on this chain. */
export class UnsupportedEntryPointError extends PurserError {
  constructor(entryPoint: string, supported: readonly string[]) {
    super(
      `Entry point not supported by Bundler: ${entryPoint}. Supported: ${supported.join(', ')}`,
      { code: -32602, rule: 'ENTRY_POINT_NOT_SERVED', data: { supported } },
    )
  }
}

/** The chain is not served. */
export class UnsupportedChainError extends PurserError {
  constructor(chainId: string, supported: readonly number[]) {
    super(
      `chainId: ${chainId.slice(0, 40)} not supported by the Bundler. Supported: ${supported.join(', ')}`,
      { code: -32602, rule: 'CHAIN_NOT_SERVED', data: { supported } },
    )
  }
}

/** The API key is missing, unknown or revoked. */
export class UnknownKeyError extends PurserError {
  constructor(isMissing: boolean) {
    super(
      `${isMissing ? 'No API key' : 'Unknown or revoked API key'}. Use the key from \`purser key create\` in the URL path, or leave it out of the path and send it as \`authorization: Bearer KEY\` or \`x-api-key: KEY\`.`,
      { code: -32001, status: 401, rule: 'KEY_UNKNOWN' },
    )
  }
}

/** A body or a batch is larger than its limit. */
export class PayloadTooLargeError extends PurserError {
  constructor(what: string, limit: number) {
    super(`${what} exceeds the limit of ${limit}.`, { code: -32600, status: 413 })
  }
}

/** Something failed inside; the cause is logged under `reference` and not shown. */
export class InternalError extends PurserError {
  constructor(reference: string, cause: unknown) {
    super(`Internal error. Quote reference ${reference} to the operator.`, {
      code: -32603,
      status: 500,
      data: { reference },
      cause,
    })
  }
}

/** A node, the database or a limit does not let us answer now; the caller may try again. */
export class UnavailableError extends PurserError {
  constructor(what: string, cause?: unknown, rule?: RequestCode) {
    super(`${what} Try again shortly.`, { code: -32005, status: 503, retryAfter: 1, rule, cause })
  }
}

/** The service has as many requests under way as it can carry; this one was not begun. */
export class OverloadedError extends PurserError {
  constructor(underWay: number) {
    super(`${underWay} operations are being admitted right now. Try again shortly.`, {
      code: -32005,
      status: 503,
      retryAfter: 1,
      rule: 'OVERLOADED',
      data: { underWay },
    })
  }
}

/** The chain is configured, and cannot be served yet: its node did not answer when the service started. */
export class ChainNotStartedError extends UnavailableError {
  constructor(chainId: number) {
    const what = `Chain ${chainId} is not served yet: its node does not answer.`
    super(what, undefined, 'NODE_UNAVAILABLE')
  }
}

/** The process answers no requests about chains, because of its role. */
export class NoApiRoleError extends PurserError {
  constructor() {
    super(
      'This process only bundles (its role is bundler): send requests to one with the role api.',
      { code: -32005, status: 503, retryAfter: 1 },
    )
  }
}

/** A requested bundle was not mined, or could not be made, in time. */
export class SendingTimeoutError extends PurserError {
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
