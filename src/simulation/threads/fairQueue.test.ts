import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Requester } from '../../base/requester.js'
import { FairQueue } from './fairQueue.js'

function requesterOf(name: string, since = 0): Requester {
  let spent = 0
  return {
    name,
    since,
    get spent() {
      return spent
    },
    spend(milliseconds) {
      spent += milliseconds
    },
    beginHeavyWork() {},
  }
}

type Item = { readonly requester: Requester | undefined; readonly cost: number }

/** Takes all items, each of which takes its cost; the names of the parties in the order in which they came. */
function drain(queue: FairQueue<Item>): string[] {
  const order: string[] = []
  for (let next = queue.take(); next !== undefined; next = queue.take()) {
    order.push(next.requester?.name ?? 'service')
    queue.charge(next.requester, next.cost)
  }
  return order
}

function pushAll(queue: FairQueue<Item>, items: readonly Item[]): void {
  for (const item of items) queue.push(item.requester, item)
}

const costs = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 1, maxLength: 30 })

test('of waiting parties, none is ahead of another by more than the most expensive item', () =>
  fc.assert(
    fc.property(fc.array(costs, { minLength: 2, maxLength: 5 }), (costsOfParties) => {
      const queue = new FairQueue<Item>()
      const left = costsOfParties.map((ofParty) => ofParty.length)
      const taken = costsOfParties.map(() => 0)
      costsOfParties.forEach((ofParty, party) => {
        const requester = requesterOf(`${party}`)
        pushAll(
          queue,
          ofParty.map((cost) => ({ requester, cost })),
        )
      })
      for (let next = queue.take(); next !== undefined; next = queue.take()) {
        const party = Number(next.requester?.name)
        left[party]! -= 1
        taken[party]! += next.cost
        queue.charge(next.requester, next.cost)
        const waiting = taken.filter((_, at) => left[at]! > 0)
        expect(Math.max(...waiting, 0) - Math.min(...waiting, Infinity)).toBeLessThanOrEqual(1_000)
      }
      expect(left.every((count) => count === 0)).toBe(true)
    }),
  ))

test('a later party waits for one item of a party that had the queue for itself', () =>
  fc.assert(
    fc.property(costs, costs, (before, behind) => {
      const queue = new FairQueue<Item>()
      const [greedy, modest] = [requesterOf('greedy'), requesterOf('modest')]
      pushAll(
        queue,
        before.map((cost) => ({ requester: greedy, cost })),
      )
      drain(queue)
      pushAll(
        queue,
        behind.map((cost) => ({ requester: greedy, cost })),
      )
      pushAll(queue, [{ requester: modest, cost: 1 }])
      expect(drain(queue).indexOf('modest')).toBeLessThanOrEqual(1)
    }),
  ))

test('a party that took little before has no credit for it', () => {
  const queue = new FairQueue<Item>()
  const [early, late] = [requesterOf('early'), requesterOf('late')]
  pushAll(queue, Array(3).fill({ requester: early, cost: 100 }))
  drain(queue)
  pushAll(queue, Array(20).fill({ requester: late, cost: 10 }))
  pushAll(queue, Array(20).fill({ requester: early, cost: 10 }))
  // The last item of the early one began when nobody else waited; of equals the first in line comes next.
  expect(drain(queue).indexOf('early')).toBeLessThanOrEqual(100 / 10 + 1)
})

test('of one party’s requests the one that took least comes next', () => {
  const queue = new FairQueue<Item>()
  const [first, second] = [requesterOf('same'), requesterOf('same')]
  first.spend(5)
  pushAll(queue, [
    { requester: first, cost: 1 },
    { requester: second, cost: 1 },
  ])
  expect([queue.take(), queue.take()].map((item) => item?.requester)).toEqual([second, first])
})

test('a request that took much comes to its turn although new ones keep coming', () =>
  fc.assert(
    fc.property(costs, fc.integer({ min: 1, max: 1_000 }), (costsOfNew, spent) => {
      const queue = new FairQueue<Item>()
      const spender = requesterOf('same')
      spender.spend(spent)
      queue.push(spender, { requester: spender, cost: 1 })
      let now = 0
      for (let at = 0; ; at++) {
        const cost = costsOfNew[at % costsOfNew.length]!
        const requester = requesterOf('same', now)
        queue.push(requester, { requester, cost })
        const next = queue.take()!
        if (next.requester === spender) break
        queue.charge(next.requester, next.cost)
        now += next.cost
      }
      expect(now).toBeLessThanOrEqual(10 * spent + Math.max(...costsOfNew))
    }),
  ))

test('the service has half of the time however many parties wait, and leaves them the other half', () =>
  fc.assert(
    fc.property(fc.array(costs, { minLength: 1, maxLength: 8 }), costs, (ofParties, ofService) => {
      const queue = new FairQueue<Item>()
      ofParties.forEach((ofParty, party) => {
        const requester = requesterOf(`${party}`)
        pushAll(
          queue,
          ofParty.map((cost) => ({ requester, cost })),
        )
      })
      pushAll(
        queue,
        ofService.map((cost) => ({ requester: undefined, cost })),
      )
      const left = { parties: ofParties.flat().length, service: ofService.length }
      const taken = { parties: 0, service: 0 }
      while (left.parties > 0 && left.service > 0) {
        const next = queue.take()!
        const side = next.requester === undefined ? 'service' : 'parties'
        queue.charge(next.requester, next.cost)
        taken[side] += next.cost
        left[side] -= 1
        expect(Math.abs(taken.parties - taken.service)).toBeLessThanOrEqual(1_000)
      }
    }),
  ))

test('an item that is not eligible keeps its place', () => {
  const queue = new FairQueue<Item>()
  const requester = requesterOf('one')
  pushAll(queue, [
    { requester, cost: 9 },
    { requester, cost: 1 },
  ])
  expect(queue.take(({ cost }) => cost < 5)?.cost).toBe(1)
  expect(queue.take(({ cost }) => cost < 5)).toBeUndefined()
  expect(queue.take()?.cost).toBe(9)
  expect(queue.size).toBe(0)
})
