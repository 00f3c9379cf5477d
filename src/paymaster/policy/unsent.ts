import type { Address } from 'viem'
import type { Refusal } from '../../base/errors/catalogue.js'
import type { ReservationSlot } from '../ledger/reservations.js'
import type { UnsentRead } from '../ledger/unsent.js'

/** Sponsorships that one sender may hold without sending them; its pool takes four operations at a time. */
const MOST_UNSENT = 16n
/** The part of an app's available balance that one sender may hold so, if it is more than one sponsorship. */
const senderPart = { numerator: 1n, denominator: 8n }
/**
 * The part that all senders without an included operation may hold together, in an app that has others:
 * anyone with the app's key can make up such senders, and the rest stays for known ones.
 */
const newSendersPart = { numerator: 3n, denominator: 4n }

/**
 * Other sponsorships that no pending operation uses, without the one being decided. Their wei stays reserved until they
 * expire.
 */
export type Unsent = {
  /** wei that the app can spend, of which the parts are taken */
  readonly available: bigint
  readonly sender: Address
  readonly ofSender: { readonly count: bigint; readonly wei: bigint }
  /** wei of the app's senders without an included operation; undefined = nothing bounds them. */
  readonly ofNewSenders: bigint | undefined
}

type Part = { readonly numerator: bigint; readonly denominator: bigint }

function partOf(available: bigint, { numerator, denominator }: Part): bigint {
  return (available * numerator) / denominator
}

/** wei that an app's new senders may hold without sending. */
export function newSendersMost(available: bigint): bigint {
  return partOf(available, newSendersPart)
}

/**
 * The refusal of a sponsorship of at most `maxCost` wei to a sender that holds too much without sending it, or
 * to a new sender where all of them do. A single sponsorship is never too much.
 */
export function checkUnsent(unsent: Unsent, maxCost: bigint): Refusal | undefined {
  const { available, sender, ofSender, ofNewSenders } = unsent
  const { count, wei } = ofSender
  const most = partOf(available, senderPart)
  if (count >= MOST_UNSENT || (count > 0n && wei + maxCost > most)) {
    const message = `The sender ${sender} holds ${count} sponsorships of together ${wei} wei that it has not sent; it may hold ${MOST_UNSENT}, and ${most} wei with this one of ${maxCost} wei. Send them, or ask again when they have ended.`
    return { code: 'TOO_MUCH_UNSENT', message }
  }
  if (ofNewSenders === undefined || ofNewSenders === 0n) return undefined
  if (ofNewSenders + maxCost <= newSendersMost(available)) return undefined
  const message = `Senders of the app without an included operation hold sponsorships of together ${ofNewSenders} wei that they have not sent; they may hold ${newSendersMost(available)} wei with this one of ${maxCost} wei. Ask again when some are sent or have ended, or deposit more.`
  return { code: 'TOO_MUCH_UNSENT', message }
}

type Request = {
  readonly slot: ReservationSlot
  /** wei that the app can spend; absent = nothing bounds what is not sent. */
  readonly available?: bigint
}

/** The sponsorships of a payer that no operation uses, while requests are decided one after the other. */
export function createUnsentView(read: UnsentRead) {
  const senders = new Map(
    read.senders.map(({ isKnown, held, ...each }) => [
      nameOf(each),
      { isKnown, held: new Map(held.map(({ nonce, maxCost }) => [nonce, maxCost])) },
    ]),
  )
  const ofNewSenders = new Map(read.ofNewSenders.map(({ appId, wei }) => [appId, wei]))

  const heldBy = (slot: ReservationSlot) => {
    const state = senders.get(nameOf(slot))
    if (state === undefined) throw new Error('a sponsorship asks for what was not read')
    return state
  }

  return {
    /** The other unsent sponsorships, without that of the request; undefined where nothing bounds them. */
    besides({ slot, available }: Request): Unsent | undefined {
      if (available === undefined) return undefined
      const { isKnown, held } = heldBy(slot)
      const present = held.get(slot.nonce)
      const sum = [...held.values()].reduce((total, wei) => total + wei, 0n)
      const ofApp = isKnown ? undefined : ofNewSenders.get(slot.appId)
      return {
        available,
        sender: slot.sender,
        ofSender: {
          count: BigInt(held.size - (present === undefined ? 0 : 1)),
          wei: sum - (present ?? 0n),
        },
        ofNewSenders: ofApp === undefined ? undefined : ofApp - (present ?? 0n),
      }
    },
    /** Enters a granted request; `maxCost` is what its slot holds from now on. */
    take({ slot, available }: Request, maxCost: bigint): void {
      if (available === undefined) return
      const { isKnown, held } = heldBy(slot)
      const before = held.get(slot.nonce) ?? 0n
      held.set(slot.nonce, maxCost)
      const ofApp = ofNewSenders.get(slot.appId)
      if (!isKnown && ofApp !== undefined) ofNewSenders.set(slot.appId, ofApp + maxCost - before)
    },
  }
}

function nameOf({ appId, sender }: Pick<ReservationSlot, 'appId' | 'sender'>): string {
  return `${appId} ${sender}`
}
