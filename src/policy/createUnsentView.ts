import type { Address } from 'viem'
import type { ReservationSlot } from '../store/ledger/reservations.js'
import type { UnsentRead } from '../store/ledger/unsent.js'
import type { Unsent } from './unsent.js'

type Request = {
  readonly slot: ReservationSlot
  /** wei that the app can spend; absent = nothing bounds what is not sent. */
  readonly means?: bigint
}

/** The sponsorships of a payer that no operation uses, while requests are decided one after the other. */
export function createUnsentView(read: UnsentRead) {
  const senders = new Map(
    read.senders.map(({ sender, isKnown, held }) => [
      sender,
      { isKnown, held: new Map(held.map((each) => [nameOf(each), each.maxCost])) },
    ]),
  )
  const ofNewSenders = new Map(read.ofNewSenders.map(({ appId, wei }) => [appId, wei]))

  const heldBy = (sender: Address) => {
    const state = senders.get(sender)
    if (state === undefined) throw new Error('a sponsorship asks for what was not read')
    return state
  }

  return {
    /** The unsent sponsorships beside that of the request; undefined where nothing bounds them. */
    beside({ slot, means }: Request): Unsent | undefined {
      if (means === undefined) return undefined
      const { isKnown, held } = heldBy(slot.sender)
      const present = held.get(nameOf(slot))
      const sum = [...held.values()].reduce((total, wei) => total + wei, 0n)
      const ofApp = isKnown ? undefined : ofNewSenders.get(slot.appId)
      return {
        means,
        sender: slot.sender,
        ofSender: {
          count: BigInt(held.size - (present === undefined ? 0 : 1)),
          wei: sum - (present ?? 0n),
        },
        ofNewSenders: ofApp === undefined ? undefined : ofApp - (present ?? 0n),
      }
    },
    /** Enters a granted request; `maxCost` is what its slot holds from now on. */
    take({ slot, means }: Request, maxCost: bigint): void {
      if (means === undefined) return
      const { isKnown, held } = heldBy(slot.sender)
      const before = held.get(nameOf(slot)) ?? 0n
      held.set(nameOf(slot), maxCost)
      const ofApp = ofNewSenders.get(slot.appId)
      if (!isKnown && ofApp !== undefined) ofNewSenders.set(slot.appId, ofApp + maxCost - before)
    },
  }
}

function nameOf({ appId, nonce }: Pick<ReservationSlot, 'appId' | 'nonce'>): string {
  return `${appId} ${nonce}`
}
