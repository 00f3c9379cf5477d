import type { Address } from 'viem'
import type { Advances } from '../../store/ledger/advances.js'
import { advanceReached } from './tokenRefusals.js'

/*
 * The parts of an app's means that a token tank may be short of while it waits for its tokens (mode
 * `afterwards`). A sender that keeps the tokens costs the tank the gas: these parts are the most that is lost.
 */

/** One sender, and so one operation: an eighth. */
const SENDER_DIVISOR = 8n
/** All senders that never paid the tank, with what the app's senders did not pay of late: a quarter. */
const NEW_SENDERS_DIVISOR = 4n
/** All senders of the app: a half. */
const APP_DIVISOR = 2n

/**
 * Requires that a quote, which is among the advances already, stays within these parts of the `means` (wei).
 * Throws TokenPaymentError (ADVANCE_REACHED).
 */
export function requireAdvance(
  token: Address,
  { ofSender, ofApp, lost, hasPaid }: Advances,
  { maxCost, means }: { readonly maxCost: bigint; readonly means: bigint },
): void {
  const ofNewSenders = hasPaid ? 0n : ofApp + lost
  const checks = [
    ['the sender', ofSender, means / SENDER_DIVISOR],
    ['senders that never paid it', ofNewSenders, means / NEW_SENDERS_DIVISOR],
    ['the app', ofApp, means / APP_DIVISOR],
  ] as const
  for (const [subject, sum, limit] of checks)
    if (sum > limit)
      throw advanceReached(token, subject, { advanced: sum - maxCost, maxCost, limit })
}
