import type { OutboundOutcome } from '../base/outbound/guardedRequest.js'

/** The outcome of one approval call, as it is stored, counted and shown. */
export type WebhookOutcome =
  | OutboundOutcome
  | 'approved'
  | 'denied'
  | 'invalid_json'
  | 'circuit_open'
  | 'overloaded'

const outages: readonly WebhookOutcome[] = ['timeout', 'dns_error', 'connect_error', 'tls_error']

/**
 * Whether a call shows that the webhook does not work: no connection, no answer in time, or a status of
 * 500 or more. Any other answer may be the work of the caller, whose data the webhook was given.
 */
export function isOutage({
  outcome,
  httpStatus = 0,
}: Pick<WebhookCall, 'outcome' | 'httpStatus'>): boolean {
  return outages.includes(outcome) || (outcome === 'http_status' && httpStatus >= 500)
}

/** One approval call and its result. */
export type WebhookCall = {
  readonly webhookId: string
  readonly outcome: WebhookOutcome
  readonly httpStatus: number | undefined
  /** The customer's own sentence, trimmed, or the failure. */
  readonly reason: string | undefined
  readonly attempts: number
  readonly durationMs: number
  readonly startedAt: Date
  /** Whether it lets the sponsorship pass: approved, or out of order with `onFailure` approve. */
  readonly passed: boolean
}

/**
 * The approval of a sponsorship: every call must let it pass. `calls` is empty when no webhook is
 * active.
 */
export type Approval = { readonly approved: boolean; readonly calls: readonly WebhookCall[] }
