import { PurserError } from './purserError.js'

/** The headers of the webhook API lack a credential, or hold a wrong one. */
export class UnauthorizedError extends PurserError {
  constructor(message: string) {
    super(message, { code: -32001, status: 401 })
  }
}

/**
 * A field of a REST body or query is missing or of the wrong type, e.g. `active must be a boolean
 * value`.
 */
export class InvalidFieldError extends PurserError {
  constructor(field: string, rule: string) {
    super(`${field} ${rule}`, { code: -32602, data: { field } })
  }
}

/** An object does not exist, or belongs to another account, which the caller must not learn. */
export class NotFoundError extends PurserError {
  constructor(what: string) {
    super(`${what} not found`, { code: -32004, status: 404 })
  }
}

/** The object is in a state in which the change is not possible; nothing was changed. */
export class ConflictError extends PurserError {
  constructor(message: string) {
    super(message, { code: -32602, status: 409 })
  }
}

/** The token is valid, but the request needs the other kind of token (account's or operator's). */
export class ForbiddenError extends PurserError {
  constructor(needed: string) {
    super(`This needs ${needed}`, { code: -32001, status: 403 })
  }
}

/** No route has this path. */
export class RouteNotFoundError extends PurserError {
  constructor() {
    super(
      'Not found. JSON-RPC is served at POST /api/v3/{chainId}/{apiKey} (v1 and v2 for older clients), webhooks at /api/v2/public/sdk/webhook.',
      { code: -32600, status: 404 },
    )
  }
}

/** The route exists, but not with this HTTP method. */
export class HttpMethodNotAllowedError extends PurserError {
  constructor(allowed: readonly string[]) {
    super(`HTTP method not allowed here. Use ${allowed.join(', ')}.`, { code: -32600, status: 405 })
  }
}

/**
 * A name or address is taken; the message is the original service's, e.g. `paymaster_name_exists`.
 */
export class TakenError extends PurserError {
  constructor(message: string) {
    super(message, { code: -32602 })
  }
}

/** The change would leave an account or the instance without anybody who administers it. */
export class LastAdminError extends PurserError {
  /** @param post - the part that somebody must keep, such as "admin of this account" */
  constructor(post: string) {
    super(`This user is the last ${post}: make another one first`, { code: -32602 })
  }
}

/** A password is too easy to guess. */
export class WeakPasswordError extends PurserError {
  constructor(rule: string) {
    super(`The password ${rule}`, { code: -32602, data: { field: 'password' } })
  }
}

/** A request without a token came from another site, or under a name that is not ours. */
export class WrongSiteError extends PurserError {
  constructor() {
    super(
      'Users sign in at the address of the setting adminUrl (https), or on localhost, by requests of that same origin with content-type application/json. Scripts send a token instead.',
      { code: -32001, status: 403 },
    )
  }
}
