import type { OutboundResponse } from '../../base/outbound/guardedRequest.js'
import type { WebhookOutcome } from '../approval.js'

type Answer = { readonly outcome: WebhookOutcome; readonly reason: string | undefined }

const MAX_REASON_LENGTH = 200

/**
 * The answer in a response: a JSON object whose arePoliciesVerified is a boolean. A status of 400 to 499
 * denies: the receiver works, and does not like what the caller sent.
 */
export function readAnswer(response: OutboundResponse): Answer {
  if (!response.ok) {
    const { outcome, reason, status = 0 } = response
    const isRefused = outcome === 'http_status' && status >= 400 && status < 500
    return { outcome: isRefused ? 'denied' : outcome, reason }
  }
  let answer: unknown
  try {
    answer = JSON.parse(response.body)
  } catch {
    return { outcome: 'invalid_json', reason: 'the answer is not JSON.' }
  }
  const { arePoliciesVerified, reason } = (answer ?? {}) as Record<string, unknown>
  if (typeof arePoliciesVerified !== 'boolean') {
    return {
      outcome: 'invalid_response',
      reason: 'the answer has no field arePoliciesVerified that is true or false.',
    }
  }
  return {
    outcome: arePoliciesVerified ? 'approved' : 'denied',
    reason: typeof reason === 'string' ? tidy(reason) : undefined,
  }
}

/**
 * The reason without control characters, cut to 200 characters, with U+FFFD for lone surrogates.
 */
function tidy(reason: string): string | undefined {
  const text = Buffer.from(reason)
    .toString()
    .replace(/\p{Cc}+/gu, ' ')
    .trim()
  return [...text].slice(0, MAX_REASON_LENGTH).join('') || undefined
}
