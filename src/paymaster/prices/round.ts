import type { FeedDefinition, SequencerDefinition } from '../../chain/definition/tokenDefinition.js'
import { toFixed18 } from './perNative.js'

/** The answer of a feed's latestRoundData. Times in Unix seconds. */
export type Round = {
  readonly roundId: bigint
  readonly answer: bigint
  readonly startedAt: bigint
  readonly updatedAt: bigint
  readonly answeredInRound: bigint
}

/**
 * A price with 18 decimals, or the reason why there is none. `updatedAt` (Unix seconds) is the time at which the
 * feed was last updated, where the source says so.
 */
export type PriceOrReason =
  | { readonly price: bigint; readonly reason?: undefined; readonly updatedAt?: number }
  | { readonly price?: undefined; readonly reason: string; readonly updatedAt?: number }

/** The most decimals of a feed that can be scaled to 18. */
const MAX_DECIMALS = 36

/** The price of a feed's round at `at` (Unix seconds), or the reason why it cannot be used. */
export function checkRound(
  { roundId, answer, updatedAt, answeredInRound }: Round,
  decimals: number,
  { address, heartbeat, min, max }: FeedDefinition,
  at: number,
): PriceOrReason {
  const refuse = (what: string): PriceOrReason => ({ reason: `feed ${address} ${what}` })
  if (decimals > MAX_DECIMALS) return refuse(`has ${decimals} decimals`)
  if (updatedAt === 0n || answeredInRound < roundId) return refuse('has a round without answer')
  const age = BigInt(at) - updatedAt
  const dated = { updatedAt: Number(updatedAt) }
  if (age > BigInt(heartbeat))
    return { ...refuse(`is ${age} s old, its heartbeat is ${heartbeat} s`), ...dated }
  if (answer <= 0n) return refuse(`answers ${answer}`)
  const price = toFixed18(answer, decimals)
  if (price === 0n || (min !== undefined && price < min) || (max !== undefined && price > max))
    return refuse(`answers ${answer}, outside of its bounds`)
  return { price, ...dated }
}

/**
 * The reason why prices of a layer 2 cannot be used at `at` (Unix seconds); its feed answers 0
 * while the sequencer works.
 */
export function checkSequencer(
  { answer, startedAt }: Round,
  { address, gracePeriod }: SequencerDefinition,
  at: number,
): string | undefined {
  if (answer !== 0n) return `the sequencer is down (feed ${address})`
  const since = BigInt(at) - startedAt
  return startedAt === 0n || since < BigInt(gracePeriod)
    ? `the sequencer works again for less than ${gracePeriod} s (feed ${address})`
    : undefined
}
