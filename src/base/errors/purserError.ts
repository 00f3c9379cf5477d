import type { ErrorCode } from './catalogue.js'

type ErrorData = Readonly<Record<string, unknown>>

/** The parts of an error other than its message. */
type ErrorDetails = {
  /** JSON-RPC error code (ERC-7769 where it names one). */
  readonly code: ErrorCode
  /** HTTP status for REST and for the classic dialect; the standard dialect always answers 200. Absent = 400. */
  readonly status?: number
  /** The rule that decided, e.g. `AA25`, `STO-021`. */
  readonly rule?: string | undefined
  /** The content of `error.data`. It never holds a secret, a path or a stack. */
  readonly data?: ErrorData | undefined
  /** A hash that a standard wants bare as `error.data`. */
  readonly hash?: `0x${string}` | undefined
  /** Seconds after which the same request may succeed. */
  readonly retryAfter?: number | undefined
  readonly cause?: unknown
}

/** A failure that a caller may see. The message says what to do. */
export class PurserError extends Error {
  override readonly name: string
  readonly code: ErrorCode
  readonly status: number
  readonly rule: string | undefined
  readonly data: ErrorData | undefined
  readonly hash: `0x${string}` | undefined
  readonly retryAfter: number | undefined

  constructor(message: string, details: ErrorDetails) {
    super(message, { cause: details.cause })
    this.name = new.target.name
    this.code = details.code
    this.status = details.status ?? 400
    this.rule = details.rule
    this.data = details.data
    this.hash = details.hash
    this.retryAfter = details.retryAfter
  }
}
