import type { Address } from 'viem'
import type { Refusal } from '../errors/refusal.js'

/** Sponsorships that one sender may hold without sending them; its pool takes four operations at a time. */
const MOST_UNSENT = 16n
/** The part of an app's means that one sender may hold so, if it is more than one sponsorship. */
const senderPart = { numerator: 1n, denominator: 8n }
/**
 * The part that all senders without an included operation may hold so together, in an app that has others:
 * whoever has the app's key can make up such senders, and the rest stays for those who are known.
 */
const newSendersPart = { numerator: 3n, denominator: 4n }

/**
 * Sponsorships that no pending operation uses, beside the one that is decided. They lock their wei until they
 * end, for whoever asked for them.
 */
export type Unsent = {
  /** wei that the app can spend, of which the parts are taken */
  readonly means: bigint
  readonly sender: Address
  readonly ofSender: { readonly count: bigint; readonly wei: bigint }
  /** wei of the app's senders without an included operation; undefined = nothing bounds them. */
  readonly ofNewSenders: bigint | undefined
}

type Part = { readonly numerator: bigint; readonly denominator: bigint }

function partOf(means: bigint, { numerator, denominator }: Part): bigint {
  return (means * numerator) / denominator
}

/** wei that an app's new senders may hold without sending. */
export function newSendersMost(means: bigint): bigint {
  return partOf(means, newSendersPart)
}

/**
 * The refusal of a sponsorship of at most `maxCost` wei to a sender that holds too much without sending it, or
 * to a new sender where all of them do. A single sponsorship is never too much.
 */
export function checkUnsent(unsent: Unsent, maxCost: bigint): Refusal | undefined {
  const { means, sender, ofSender, ofNewSenders } = unsent
  const { count, wei } = ofSender
  const most = partOf(means, senderPart)
  if (count >= MOST_UNSENT || (count > 0n && wei + maxCost > most)) {
    const message = `The sender ${sender} holds ${count} sponsorships of together ${wei} wei that it has not sent; it may hold ${MOST_UNSENT}, and ${most} wei with this one of ${maxCost} wei. Send them, or ask again when they have ended.`
    return { code: 'TOO_MUCH_UNSENT', message }
  }
  if (ofNewSenders === undefined || ofNewSenders === 0n) return undefined
  if (ofNewSenders + maxCost <= newSendersMost(means)) return undefined
  const message = `Senders of the app without an included operation hold sponsorships of together ${ofNewSenders} wei that they have not sent; they may hold ${newSendersMost(means)} wei with this one of ${maxCost} wei. Ask again when some are sent or have ended, or deposit more.`
  return { code: 'TOO_MUCH_UNSENT', message }
}
