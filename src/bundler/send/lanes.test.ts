import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { BundleAttempt, OpenBundle } from '../outbox/bundles.js'
import {
  committedCost,
  type Lane,
  type LanePlan,
  missingNonces,
  newestAttempt,
  nextNonce,
  planLane,
} from './lanes.js'

const executor = `0x${'e0'.repeat(20)}` as const
const fast = { maxFeePerGas: 100n, maxPriorityFeePerGas: 10n }

let hashes = 0
function attempt(fields: Partial<BundleAttempt> = {}): BundleAttempt {
  return {
    hash: `0x${(++hashes).toString(16).padStart(64, '0')}`,
    maxFeePerGas: 100n,
    maxPriorityFeePerGas: 10n,
    maxCost: 1_000n,
    noop: false,
    age: 0,
    ...fields,
  }
}

function bundle(nonce: number, fields: Partial<OpenBundle> = {}): OpenBundle {
  return {
    id: BigInt(1_000 + nonce),
    kind: 'operations',
    entryPoint: `0x${'ee'.repeat(20)}`,
    executor,
    nonce: BigInt(nonce),
    operationCount: 2,
    waitingCount: 2,
    senders: [],
    cancelRequested: false,
    validUntil: 0,
    validUntilBlock: 0n,
    relayedFrom: undefined,
    attempts: [attempt()],
    ...fields,
  }
}

function lane(mined: number, ...open: OpenBundle[]): Lane {
  return {
    executor,
    mined: BigInt(mined),
    open,
  }
}

/** A block in which all operations that end at all are valid no longer. */
const soon = { number: 100n, timestamp: 1_000 }

function plan(each: Lane, known: (attempt: BundleAttempt) => boolean = () => true): LanePlan {
  const conditions = { soon, resubmitAfter: 100, fast, maxFillers: 4, isRelayed: () => false }
  return planLane(each, { isKnown: known, ...conditions })
}

function kinds({ steps }: LanePlan) {
  return steps.map(({ kind, bundle }) => `${kind} ${bundle.nonce}`)
}
const late = { attempts: [attempt({ age: 100 })] as const }

test('bundles that are known and young are left alone', () => {
  expect(plan(lane(5, bundle(5), bundle(6)))).toEqual({ steps: [], stuck: [] })
})

test('a bundle is cancelled, once, when one of its operations ends before it may be mined', () => {
  for (const ends of [{ validUntil: 999 }, { validUntilBlock: 99n }]) {
    expect(kinds(plan(lane(5, bundle(5, ends))))).toEqual(['cancel 5'])
    const cancelled = bundle(5, { ...ends, attempts: [attempt({}), attempt({ noop: true })] })
    expect(kinds(plan(lane(5, cancelled)))).toEqual([])
  }
  for (const ends of [{ validUntil: 1_000 }, { validUntilBlock: 100n }])
    expect(kinds(plan(lane(5, bundle(5, ends))))).toEqual([])
})

test('a used nonce ends its bundle, whatever else is wrong with it', () => {
  const odd = bundle(5, { cancelRequested: true })
  expect(kinds(plan(lane(6, odd, bundle(6)), () => false))).toEqual(['abandon 5', 'send 6'])
})

test('a used nonce does not end a bundle of which the node knows any transaction', () => {
  const [first, second] = [attempt(), attempt()]
  const raised = lane(6, bundle(5, { attempts: [first, second] }))
  for (const { hash: known } of [first, second])
    expect(plan(raised, ({ hash }) => hash === known)).toEqual({ steps: [], stuck: [] })
})

test('what the node does not know is sent again', () => {
  const [first, second] = [bundle(5), bundle(6)]
  expect(
    kinds(plan(lane(5, first, second), ({ hash }) => hash === first.attempts[0].hash)),
  ).toEqual(['send 6'])
})

test('a bundle with an operation that is settled elsewhere is cancelled, once', () => {
  expect(kinds(plan(lane(5, bundle(5, { waitingCount: 1 }))))).toEqual(['cancel 5'])
  const attempts = [attempt(), attempt({ noop: true })] as const
  expect(kinds(plan(lane(5, bundle(5, { waitingCount: 1, attempts }))))).toEqual([])
})

test('a bundle that the operator wants back is cancelled', () => {
  expect(kinds(plan(lane(5, bundle(5), bundle(6, { cancelRequested: true }))))).toEqual([
    'cancel 6',
  ])
})

test('of stuck bundles the first comes first; others only when their own fees are too low', () => {
  const poor = { attempts: [attempt({ age: 200, maxFeePerGas: 99n })] as const }
  const { stuck } = plan(lane(5, bundle(5, late), bundle(6, late), bundle(7, poor), bundle(8)))
  expect(stuck.map(({ nonce }) => nonce)).toEqual([5n, 7n])
})

test('few missing nonces are waited for, too many end what is stuck behind them', () => {
  expect(kinds(plan(lane(5, bundle(9, late))))).toEqual([])
  expect(kinds(plan(lane(5, bundle(10, late)), () => false))).toEqual(['abandon 10'])
  expect(kinds(plan(lane(5, bundle(10))))).toEqual([])
  expect(missingNonces(lane(5, bundle(6), bundle(8)))).toEqual([5n, 7n])
})

test('a node that answers an absurd nonce costs neither time nor transactions', () => {
  const far = lane(0, bundle(1_000_000_000, late))
  expect(missingNonces(far)).toHaveLength(100)
  expect(kinds(plan(far, () => false))).toEqual(['abandon 1000000000'])
})

test('a nonce that was left out is taken first', () => {
  expect(nextNonce(lane(5, bundle(5), bundle(7)))).toBe(6n)
  expect(nextNonce(lane(5, bundle(5), bundle(6)))).toBe(7n)
  expect(nextNonce(lane(5))).toBe(5n)
})

test('each nonce may cost what its most expensive transaction does', () => {
  const attempts = [attempt({ maxCost: 70n }), attempt({ maxCost: 3n, noop: true })] as const
  expect(committedCost(lane(5, bundle(5, { attempts }), bundle(6)))).toBe(1_070n)
})

/** One executor, its outbox, the node's pool and the chain, for any order of events. */
type World = {
  mined: number
  open: OpenBundle[]
  known: Set<string>
}

type Event =
  | { kind: 'sign'; lost: boolean }
  | { kind: 'forget' | 'refuse' | 'settle' | 'cancel'; which: number }
  | { kind: 'mine'; blocks: number }
  | { kind: 'reorg'; depth: number }
  | { kind: 'cycle'; lost: boolean }

function happen(world: World, event: Event): void {
  const { open, known } = world
  const change = (which: number, fields: Partial<OpenBundle>) => {
    const index = which % open.length
    if (open[index]) open[index] = { ...open[index], ...fields }
  }
  if (event.kind === 'sign' && open.length < 4) {
    const nonce = nextNonce(lane(world.mined, ...open))
    const signed = bundle(Number(nonce))
    open.push(signed)
    open.sort((a, b) => Number(a.nonce - b.nonce))
    if (!event.lost) known.add(signed.attempts[0].hash)
  } else if (event.kind === 'forget' && open.length > 0) {
    known.delete(newestAttempt(open[event.which % open.length]!).hash)
  } else if (event.kind === 'refuse' && open.length > 0) open.splice(event.which % open.length, 1)
  else if (event.kind === 'settle') change(event.which, { waitingCount: 1 })
  else if (event.kind === 'cancel') change(event.which, { cancelRequested: true })
  else if (event.kind === 'mine') mine(world, event.blocks)
  else if (event.kind === 'reorg') {
    // What was mined and closed before is open again, as rollBack leaves it.
    for (let i = 0; i < event.depth && world.mined > 0; i++) {
      world.mined -= 1
      if (!open.some(({ nonce }) => nonce === BigInt(world.mined)))
        open.unshift(bundle(world.mined))
    }
  } else if (event.kind === 'cycle') cycle(world, event.lost)
}

function mine(world: World, blocks: number): void {
  for (let i = 0; i < blocks; i++) {
    const next = world.open.find(({ nonce }) => nonce === BigInt(world.mined))
    if (!next?.attempts.some(({ hash }) => world.known.has(hash))) return
    world.open = world.open.filter((each) => each !== next)
    world.mined += 1
  }
}

function cycle(world: World, lost: boolean): LanePlan {
  const made = plan(lane(world.mined, ...world.open), ({ hash }) => world.known.has(hash))
  const learn = (sent: BundleAttempt) => {
    if (!lost) world.known.add(sent.hash)
  }
  const replace = (old: OpenBundle, attempts: OpenBundle['attempts']) => {
    world.open = world.open.map((each) => (each === old ? { ...each, attempts } : each))
  }
  for (const { kind, bundle: each } of made.steps) {
    if (kind === 'abandon') world.open = world.open.filter((other) => other !== each)
    else if (kind === 'send') learn(newestAttempt(each))
    else {
      const noop = attempt({ noop: true })
      replace(each, [...each.attempts, noop])
      learn(noop)
    }
  }
  for (const nonce of missingNonces(lane(world.mined, ...world.open))) {
    const fields = { kind: 'filler', operationCount: 0, waitingCount: 0 } as const
    const filler = bundle(Number(nonce), { ...fields, attempts: [attempt({ noop: true })] })
    world.open.push(filler)
    learn(filler.attempts[0])
  }
  world.open.sort((a, b) => Number(a.nonce - b.nonce))
  return made
}

const which = fc.nat(10)
const anyEvent: fc.Arbitrary<Event> = fc.oneof(
  { weight: 4, arbitrary: fc.record({ kind: fc.constant('sign' as const), lost: fc.boolean() }) },
  fc.record({ kind: fc.constantFrom('forget', 'refuse', 'settle', 'cancel'), which }),
  fc.record({ kind: fc.constant('mine' as const), blocks: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: fc.constant('reorg' as const), depth: fc.integer({ min: 1, max: 3 }) }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('cycle' as const), lost: fc.boolean() }) },
)

test('whatever happens in whatever order, no nonce is open twice and every lane drains', () => {
  fc.assert(
    fc.property(fc.array(anyEvent, { maxLength: 60 }), (events) => {
      const world: World = { mined: 0, open: [], known: new Set() }
      for (const event of events) {
        happen(world, event)
        const nonces = world.open.map(({ nonce }) => nonce)
        expect(new Set(nonces).size).toBe(nonces.length)
        for (const { attempts } of world.open)
          expect(attempts.filter(({ noop }) => noop).length).toBeLessThanOrEqual(1)
      }
      for (let cycles = 0; world.open.length > 0; cycles++) {
        expect(cycles).toBeLessThan(3)
        cycle(world, false)
        mine(world, 100)
      }
    }),
  )
})
