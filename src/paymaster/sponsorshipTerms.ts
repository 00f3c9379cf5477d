import type { TimeRange } from '../entrypoint/validationData.js'
import { InvalidParamsError } from '../errors/requestErrors.js'
import type { FeeLimits } from '../policy/checkFees.js'
import { configuredPrices, type PriceSource } from '../policy/price.js'

/** The operator's terms for every sponsorship. Durations in seconds. */
export type SponsorshipTerms = FeeLimits & {
  readonly minDuration: number
  readonly maxDuration: number
  readonly defaultDuration: number
  /** The prices of native tokens, for budgets in USD. */
  readonly prices: PriceSource
  /** The age in seconds above which a price is not used. */
  readonly maxPriceAge: number
}

export const defaultTerms: SponsorshipTerms = {
  minDuration: 60,
  maxDuration: 900,
  defaultDuration: 300,
  // viem offers twice what its node suggests, by default.
  feeMultiple: 2n,
  feeFloor: 1_000_000n,
  prices: configuredPrices(new Map()),
  maxPriceAge: 3_600,
}

/**
 * The seconds that a signed offer of tokens lives at most. Its rate is that of now, and whoever holds the
 * offer uses it only while it is better than the market: it lives as long as signing and inclusion take.
 */
const QUOTE_SECONDS = 120

/** The terms of token payments, which end sooner than sponsorships. */
export function quoteTerms(terms: SponsorshipTerms): SponsorshipTerms {
  return {
    ...terms,
    minDuration: Math.min(terms.minDuration, QUOTE_SECONDS),
    maxDuration: Math.min(terms.maxDuration, QUOTE_SECONDS),
  }
}

/**
 * The seconds that a sponsorship lives, at most `maxDuration`: SDKs ask for long ones by default, and
 * the answer says when it ends. Throws InvalidParamsError for less than `minDuration`.
 */
export function durationOf(requested: number | undefined, terms: SponsorshipTerms): number {
  const { minDuration, maxDuration, defaultDuration } = terms
  if (requested === undefined) return Math.min(Math.max(defaultDuration, minDuration), maxDuration)
  if (Number.isInteger(requested) && requested >= minDuration)
    return Math.min(requested, maxDuration)
  throw new InvalidParamsError(
    'expiryDuration',
    `is ${requested}; it must be a whole number of seconds, at least ${minDuration}.`,
  )
}

/**
 * The time range of a sponsorship that is signed now. It begins at 0, so a block whose time lags
 * behind ours cannot come too early (AA32). It ends by the later of our clock and the chain's: an
 * idle development chain shows the time of its last block, which may be long past, and one whose
 * time was moved forward is ahead of us; by the other clock the signature would be born expired.
 *
 * @param headTime - time of the newest block, @param now - our clock; Unix seconds
 */
export function timeRange(headTime: number, now: number, duration: number): TimeRange {
  return {
    validAfter: 0,
    validUntil: Math.max(headTime, now) + duration,
  }
}
