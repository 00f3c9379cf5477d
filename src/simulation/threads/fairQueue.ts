import { Lru } from '../../base/lru.js'
import type { Requester } from '../../base/requester.js'

/** The use that one party makes of what is shared. */
type Lane = {
  /** Milliseconds that its work took, and that of others before it came: see `reached`. */
  taken: number
  /** Its items that wait. */
  waiting: number
}

type Waiting<Item> = {
  readonly lane: Lane
  readonly requester: Requester | undefined
  readonly item: Item
}

/** Parties that are remembered; one that is forgotten begins anew. */
const MOST_LANES = 10_000

/** All parties together, or the service itself: each of the two has half of the time while both wait. */
type Side = { taken: number; waiting: number }

/** Milliseconds that one of a party's requests gives way to its later ones, for each that it took itself. */
const PATIENCE = 10

/**
 * A queue in which the party that took least comes next, and of its requests one that took little before one that took
 * more, as long as the latter did not wait `PATIENCE` times as long; equals come in the order in which they came. A party that comes later gets no credit for
 * having taken less before. Work of the service itself, such as validating before a bundle, has half of
 * the time however many parties wait, and leaves them the other half.
 */
export class FairQueue<Item> {
  readonly #lanes = new Lru<string, Lane>(MOST_LANES)
  readonly #parties: Side = { taken: 0, waiting: 0 }
  readonly #service: Side = { taken: 0, waiting: 0 }
  #waiting: Waiting<Item>[] = []
  /** The `taken` with which an item of a party was taken last. */
  #reached = 0

  get size(): number {
    return this.#waiting.length
  }

  /** `requester` is the party for which the item is; undefined = the service itself. */
  push(requester: Requester | undefined, item: Item): void {
    const [side, other] = this.#sidesOf(requester)
    if (side.waiting === 0) side.taken = Math.max(side.taken, other.taken)
    side.waiting += 1
    const lane = this.#laneOf(requester)
    if (lane.waiting === 0) lane.taken = Math.max(lane.taken, this.#reached)
    lane.waiting += 1
    this.#waiting.push({ lane, requester, item })
  }

  /** Takes the next of the items for which `isEligible` holds out of the queue. */
  take(isEligible: (item: Item) => boolean = () => true): Item | undefined {
    let next: Waiting<Item> | undefined
    for (const waiting of this.#waiting) {
      if (!isEligible(waiting.item)) continue
      if (next === undefined || this.#isBefore(waiting, next)) next = waiting
    }
    if (next === undefined) return undefined
    this.#waiting = this.#waiting.filter((waiting) => waiting !== next)
    next.lane.waiting -= 1
    this.#sidesOf(next.requester)[0].waiting -= 1
    if (next.requester !== undefined) this.#reached = Math.max(this.#reached, next.lane.taken)
    return next.item
  }

  /** Notes that the party's work took so many milliseconds. */
  charge(requester: Requester | undefined, milliseconds: number): void {
    this.#laneOf(requester).taken += milliseconds
    this.#sidesOf(requester)[0].taken += milliseconds
    requester?.spend(milliseconds)
  }

  #sidesOf(requester: Requester | undefined): readonly [own: Side, other: Side] {
    return requester === undefined ? [this.#service, this.#parties] : [this.#parties, this.#service]
  }

  #isBefore(a: Waiting<Item>, b: Waiting<Item>): boolean {
    if ((a.requester === undefined) !== (b.requester === undefined)) {
      const isServiceNext = this.#service.taken <= this.#parties.taken
      return (a.requester === undefined) === isServiceNext
    }
    if (a.lane.taken !== b.lane.taken) return a.lane.taken < b.lane.taken
    return turnOf(a.requester) < turnOf(b.requester)
  }

  #laneOf(requester: Requester | undefined): Lane {
    const name = requester?.name ?? ''
    const known = this.#lanes.get(name)
    if (known) return known
    const lane = { taken: this.#reached, waiting: 0 }
    this.#lanes.set(name, lane)
    return lane
  }
}

/** The lower, the sooner. A request that only the time it took put back would wait for ever where new ones keep coming. */
function turnOf(requester: Requester | undefined): number {
  return requester === undefined ? 0 : requester.since + PATIENCE * requester.spent
}
