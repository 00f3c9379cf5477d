import { InvalidParamsError } from '../base/errors/requestErrors.js'
import type { TimeRange } from '../erc4337/validationData.js'
import type { FeeLimits } from './policy/checkFees.js'
import { configuredPrices, type PriceSource } from './policy/price.js'

/** The operator's terms for every sponsorship. Durations in seconds. */
export type SponsorshipTerms = FeeLimits & {
  readonly minDuration: number
  readonly maxDuration: number
  readonly defaultDuration: number
  /** The prices of native tokens, for budgets in USD. */
  readonly prices: PriceSource
  /** The age in seconds above which a price is not used. */
  readonly maxPriceAge: number
  /** When the rules change that the chain announces (Unix seconds); limits that are signed long before may not fit the new ones. */
  readonly rulesEnd?: (() => number | undefined) | undefined
}

export const defaultTerms: SponsorshipTerms = {
  // The bundler takes no operation that ends within 30 s; the account needs as long to sign and send it.
  minDuration: 60,
  maxDuration: 900,
  defaultDuration: 300,
  feeFloor: 1_000_000n,
  prices: configuredPrices(new Map()),
  maxPriceAge: 3_600,
}

/**
 * Maximum lifetime (seconds) of a signed token quote. Its rate is fixed, and its holder can wait and use it only if it
 * beats the market: so it lives just as long as signing and inclusion take.
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

/** Seconds before a change of the chain's rules from which on limits fit the old and the new ones. */
const BOTH_SIDES = 3_600

/** The duration (seconds) of a sponsorship that is signed at `time`: it does not outlive the rules that its limits fit. */
export function durationUnderRules(
  duration: number,
  time: number,
  { rulesEnd }: Pick<SponsorshipTerms, 'rulesEnd'>,
): number {
  const left = (rulesEnd?.() ?? Number.POSITIVE_INFINITY) - time
  return left > BOTH_SIDES ? Math.min(duration, left) : duration
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
