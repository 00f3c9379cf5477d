import type { OutboundResponse } from '../../outbound/exchange.js'
import type { WebhookOutcome } from '../approval.js'

type Answer = { readonly outcome: WebhookOutcome; readonly reason: string | undefined }

const MAX_REASON_LENGTH = 200

/**
 * The answer in a response. Only a JSON object whose arePoliciesVerified is a boolean is an answer.
 */
export function readAnswer(response: OutboundResponse): Answer {
  if (!response.ok) return { outcome: response.outcome, reason: response.reason }
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
