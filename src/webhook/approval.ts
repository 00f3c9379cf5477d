import type { OutboundOutcome } from '../outbound/exchange.js'

/** Outcome codes of one approval call (stored, counted, shown). */
export type WebhookOutcome =
  | OutboundOutcome
  | 'approved'
  | 'denied'
  | 'invalid_json'
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
