/** Outcome codes of one approval call (stored, counted, shown). */
export type WebhookOutcome =
  | 'approved'
  | 'denied'
  | 'timeout'
  | 'dns_error'
  | 'connect_error'
  | 'tls_error'
  | 'http_status'
  | 'redirect'
  | 'invalid_json'
  | 'invalid_response'
  | 'too_large'
  | 'blocked_address'
  | 'circuit_open'
  | 'overloaded'

export type WebhookCall = {
  readonly webhookId: string
  readonly outcome: WebhookOutcome
  readonly httpStatus: number | undefined
  /** The customer's own sentence, trimmed, or what failed. */
  readonly reason: string | undefined
  readonly attempts: number
  readonly durationMs: number
  readonly startedAt: Date
  /** Whether it lets the sponsorship pass: approved, or failed with `onFailure` approve. */
  readonly passed: boolean
}

/** All active webhooks of an app must let it pass; `calls` is empty when none is active. */
export type Approval = { readonly approved: boolean; readonly calls: readonly WebhookCall[] }
