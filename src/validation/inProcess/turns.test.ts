import { expect, test } from 'vitest'
import { type Requester, workFor } from '../../base/requester.js'
import { takeTurn, type Weight } from './turns.js'

/** Keeps the thread for so many milliseconds. */
function busy(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
}

function requesterOf(name: string, onHeavy: () => void = () => {}): Requester {
  let spent = 0
  return {
    name,
    get spent() {
      return spent
    },
    spend(milliseconds) {
      spent += milliseconds
    },
    beginHeavyWork: onHeavy,
  }
}

/** Runs of one party, each of which notes the party's name when it begins. */
function runs(name: string, weight: Weight, count: number, milliseconds: number, order: string[]) {
  const requester = requesterOf(name)
  const run = () => {
    order.push(name)
    busy(milliseconds)
  }
  return Array.from({ length: count }, () => workFor(requester, () => takeTurn(weight, run)))
}

test('a party within its share never waits, and neither does the service itself', async () => {
  const order: string[] = []
  const greedy = runs('greedy', 'light', 3, 90, order)
  const modest = runs('modest', 'light', 3, 1, order)
  const own = takeTurn('light', () => order.push('service'))
  expect(order).toEqual(['greedy', 'modest', 'modest', 'modest', 'service'])
  await Promise.all([...greedy, ...modest, own])
})

test('a party gets three quarters of the thread, others have it between its runs', async () => {
  const begin = performance.now()
  let turns = 0
  const ticks = setInterval(() => turns++, 1)
  await Promise.all(runs('alone', 'light', 9, 20, []))
  clearInterval(ticks)
  // The last run needs no rest after it, and the first 20 ms need none before the next run.
  expect(performance.now() - begin).toBeGreaterThanOrEqual((8 * 20) / 0.75 - 20 + 20 - 1)
  expect(turns).toBeGreaterThanOrEqual(8)
})

test('of the parties that wait, the one that took least comes next', async () => {
  const order: string[] = []
  const greedy = runs('greedy 2', 'heavy', 3, 60, order)
  const modest = runs('modest 2', 'heavy', 4, 5, order)
  await Promise.all([...greedy, ...modest])
  expect(order.slice(0, 5)).toEqual(['greedy 2', ...Array(4).fill('modest 2')])
})

test('a party that took little before has no credit for it', async () => {
  const order: string[] = []
  await Promise.all(runs('early', 'light', 3, 40, order))
  const late = runs('late', 'heavy', 4, 20, order.splice(0))
  await Promise.all(runs('early', 'heavy', 4, 20, order).concat(late))
  expect(order.indexOf('early')).toBeLessThan(3)
})

test('heavy runs of whomever leave half of the thread', async () => {
  const begin = performance.now()
  const both = [...runs('a', 'heavy', 3, 20, []), ...runs('b', 'heavy', 3, 20, [])]
  await Promise.all([...both, takeTurn('heavy', () => busy(20))])
  expect(performance.now() - begin).toBeGreaterThanOrEqual(6 * 40 + 20 - 1)
})

test('of one party’s requests the one that took least comes next', async () => {
  const order: string[] = []
  const [first, second] = [requesterOf('same'), requesterOf('same')]
  const run = (name: string) => () => {
    order.push(name)
    busy(90)
  }
  const ask = (requester: Requester, name: string) =>
    workFor(requester, () => takeTurn('light', run(name)))
  await Promise.all([ask(first, 'a'), ask(first, 'a'), ask(first, 'a'), ask(second, 'b')])
  expect(order).toEqual(['a', 'b', 'a', 'a'])
})

test('a failing run ends its turn, a refused heavy one gets none', async () => {
  const failing = workFor(requesterOf('failing'), () =>
    takeTurn('light', () => {
      throw new Error('broke')
    }),
  )
  await expect(failing).rejects.toThrow('broke')
  const refuse = () => {
    throw new Error('too many')
  }
  const refused = workFor(requesterOf('refused', refuse), () => takeTurn('heavy', () => 'ran'))
  await expect(refused).rejects.toThrow('too many')
  expect(await takeTurn('heavy', () => 'ran')).toBe('ran')
})
