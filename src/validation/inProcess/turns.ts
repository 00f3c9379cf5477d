import { Lru } from '../../base/lru.js'
import { currentRequester, type Requester } from '../../base/requester.js'

/**
 * `light`: a run of few steps, see `LIGHT_STEPS`. `heavy`: a run of more steps, one of whomever at a time.
 */
export type Weight = 'light' | 'heavy'

/** The use that one party makes of the thread. All members are in milliseconds. */
type Lane = {
  /** The time at which its runs have had their rests: later than now by what it took beyond its share. */
  freeAt: number
  /** The time that its runs have kept the thread, and that of others before it came: see `reached`. */
  taken: number
  /** Runs that wait for their turn. */
  waiting: number
}

type Waiting = {
  readonly lane: Lane
  readonly weight: Weight
  readonly requester: Requester | undefined
  readonly run: () => void
}

/** Part of the thread that the runs of one party take at most; the rest is for everything else. */
const SHARE_OF_PARTY = 3 / 4
/** Part of the thread that all heavy runs together take at most. */
const SHARE_OF_HEAVY = 1 / 2
/** Milliseconds by which a party may run ahead of its share, so that a single request never waits. */
const ALLOWANCE = 20
/** Parties that are remembered; one that is forgotten begins anew. */
const MOST_LANES = 10_000

const lanes = new Lru<string, Lane>(MOST_LANES)
const waiting: Waiting[] = []
const thread = {
  /** Milliseconds: the time at which heavy runs have had their rest. */
  heavyFreeAt: 0,
  /** The `taken` with which a run began last: who comes later gets no credit for having taken less before. */
  reached: 0,
}
let planned: { readonly cancel: () => void } | undefined

/**
 * Runs `run`, which keeps the thread, when it is the turn of the party for which the caller works
 * (`currentRequester`): at once while that party stays within its share of the thread, else when it is back
 * in it. Of the parties that wait, the one that took least comes next, and of its requests the one that
 * took least. Between two runs that waited the thread is free for others. The service itself waits for heavy runs only.
 */
export async function takeTurn<Result>(weight: Weight, run: () => Result): Promise<Result> {
  const requester = currentRequester()
  if (requester === undefined && weight === 'light') return run()
  if (weight === 'heavy') requester?.beginHeavyWork()
  const lane = laneOf(requester)
  if (lane.waiting === 0) lane.taken = Math.max(lane.taken, thread.reached)
  if (lane.waiting === 0 && readyAt({ lane, weight }) <= performance.now()) {
    return timed(run, { lane, weight, requester })
  }
  return new Promise((resolve, reject) => {
    const turn = { lane, weight, requester }
    waiting.push({
      ...turn,
      run() {
        try {
          resolve(timed(run, turn))
        } catch (error) {
          reject(error)
        }
      },
    })
    lane.waiting += 1
    planNext()
  })
}

function laneOf(requester: Requester | undefined): Lane {
  const name = requester?.name ?? ''
  const known = lanes.get(name)
  if (known) return known
  const lane = { freeAt: 0, taken: 0, waiting: 0 }
  lanes.set(name, lane)
  return lane
}

function readyAt({ lane, weight }: Pick<Waiting, 'lane' | 'weight'>): number {
  const ofParty = lane.freeAt - ALLOWANCE
  return weight === 'light' ? ofParty : Math.max(ofParty, thread.heavyFreeAt)
}

function timed<Result>(
  run: () => Result,
  { lane, weight, requester }: Pick<Waiting, 'lane' | 'weight' | 'requester'>,
): Result {
  const begin = performance.now()
  thread.reached = Math.max(thread.reached, lane.taken)
  try {
    return run()
  } finally {
    const elapsed = performance.now() - begin
    lane.freeAt = Math.max(lane.freeAt, begin) + elapsed / SHARE_OF_PARTY
    lane.taken += elapsed
    if (weight === 'heavy') thread.heavyFreeAt = begin + elapsed / SHARE_OF_HEAVY
    requester?.spend(elapsed)
  }
}

/** Gives the next turn as soon as one of the waiting may have it, after others had the thread. */
function planNext(): void {
  planned?.cancel()
  planned = undefined
  if (waiting.length === 0) return
  const first = waiting.reduce((least, turn) => Math.min(least, readyAt(turn)), Infinity)
  const pause = first - performance.now()
  if (pause > 0) {
    const timer = setTimeout(giveTurn, pause)
    planned = { cancel: () => clearTimeout(timer) }
  } else {
    const immediate = setImmediate(giveTurn)
    planned = { cancel: () => clearImmediate(immediate) }
  }
}

function giveTurn(): void {
  const now = performance.now()
  const [next] = waiting.filter((turn) => readyAt(turn) <= now).sort(byLeastTaken)
  if (next !== undefined) {
    waiting.splice(waiting.indexOf(next), 1)
    next.lane.waiting -= 1
    next.run()
  }
  planNext()
}

/** Sorting is stable: equals come in the order in which they began to wait. */
function byLeastTaken(a: Waiting, b: Waiting): number {
  return a.lane.taken - b.lane.taken || (a.requester?.spent ?? 0) - (b.requester?.spent ?? 0)
}
