import { Lru } from '../../base/lru.js'
import type { Requester } from '../../base/requester.js'

/** `turn`: see `turnOf`, as it was when the item came. */
type Waiting<Item> = { readonly turn: number; readonly item: Item }

/** What one party takes of what is shared, and what it waits for. */
type Lane<Item> = {
  readonly isService: boolean
  /** Milliseconds that its work took, and that of others before it came: see `reached`. */
  taken: number
  /** The lowest turn first; of equals that which came first. */
  readonly waiting: Waiting<Item>[]
}

type Candidate<Item> = readonly [lane: Lane<Item>, waiting: Waiting<Item>]

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
  readonly #lanes = new Lru<string, Lane<Item>>(MOST_LANES)
  /** Lanes with items that wait: a take compares one item of each, however many wait. */
  readonly #busy = new Set<Lane<Item>>()
  readonly #parties: Side = { taken: 0, waiting: 0 }
  readonly #service: Side = { taken: 0, waiting: 0 }
  /** The `taken` with which an item of a party was taken last. */
  #reached = 0

  get size(): number {
    return this.#parties.waiting + this.#service.waiting
  }

  /** `requester` is the party for which the item is; undefined = the service itself. */
  push(requester: Requester | undefined, item: Item): void {
    const lane = this.#laneOf(requester)
    const [side, other] = this.#sidesOf(lane)
    if (side.waiting === 0) side.taken = Math.max(side.taken, other.taken)
    side.waiting += 1
    const { waiting } = lane
    if (waiting.length === 0) lane.taken = Math.max(lane.taken, this.#reached)
    const turn = turnOf(requester)
    const place = waiting.findLastIndex((before) => before.turn <= turn) + 1
    waiting.splice(place, 0, { turn, item })
    this.#busy.add(lane)
  }

  /** Takes the next of the items for which `isEligible` holds out of the queue. */
  take(isEligible: (item: Item) => boolean = () => true): Item | undefined {
    let next: Candidate<Item> | undefined
    for (const lane of this.#busy) {
      const waiting = lane.waiting.find(({ item }) => isEligible(item))
      if (waiting && (next === undefined || this.#isBefore([lane, waiting], next)))
        next = [lane, waiting]
    }
    if (next === undefined) return undefined
    const [lane, taken] = next
    lane.waiting.splice(lane.waiting.indexOf(taken), 1)
    if (lane.waiting.length === 0) this.#busy.delete(lane)
    this.#sidesOf(lane)[0].waiting -= 1
    if (!lane.isService) this.#reached = Math.max(this.#reached, lane.taken)
    return taken.item
  }

  /** Notes that the party's work took so many milliseconds. */
  charge(requester: Requester | undefined, milliseconds: number): void {
    const lane = this.#laneOf(requester)
    lane.taken += milliseconds
    this.#sidesOf(lane)[0].taken += milliseconds
    requester?.spend(milliseconds)
  }

  #sidesOf({ isService }: Lane<Item>): readonly [own: Side, other: Side] {
    return isService ? [this.#service, this.#parties] : [this.#parties, this.#service]
  }

  #isBefore([a, { turn }]: Candidate<Item>, [b, other]: Candidate<Item>): boolean {
    const isServiceNext = this.#service.taken <= this.#parties.taken
    if (a.isService !== b.isService) return a.isService === isServiceNext
    return a.taken === b.taken ? turn < other.turn : a.taken < b.taken
  }

  #laneOf(requester: Requester | undefined): Lane<Item> {
    const name = requester?.name ?? ''
    const known = this.#lanes.get(name)
    if (known) return known
    const lane = { isService: requester === undefined, taken: this.#reached, waiting: [] }
    this.#lanes.set(name, lane)
    return lane
  }
}

/** The lower, the sooner. A request that only the time it took put back would wait for ever where new ones keep coming. */
function turnOf(requester: Requester | undefined): number {
  return requester === undefined ? 0 : requester.since + PATIENCE * requester.spent
}
