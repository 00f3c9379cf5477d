import { expect, test } from 'vitest'
import { requesterOf } from '../../../test/support/requesterOf.js'
import type { Requester } from '../../base/requester.js'
import { runInline } from './inlineRuns.js'

/** Keeps the thread for so many milliseconds. */
function busy(milliseconds: number): void {
  for (const end = performance.now() + milliseconds; performance.now() < end; );
}

test('runs of one turn take a slice of it, then others have the thread', async () => {
  const order: string[] = []
  const run = () => {
    order.push('run')
    busy(6)
  }
  const others = () => {
    order.push('other')
    if (order.length < 12) setImmediate(others)
  }
  setImmediate(others)
  await Promise.all(Array.from({ length: 5 }, () => runInline(undefined, run)))
  const runs = order.flatMap((name, at) => (name === 'run' ? [at] : []))
  expect(runs).toHaveLength(5)
  for (const [at, next] of runs.slice(1).entries())
    expect(order.slice(runs[at], next), `between runs ${at} and ${at + 1}`).toContain('other')
})

test('parties take turns, and pay for their time; a failing run fails alone', async () => {
  const order: string[] = []
  const [greedy, modest] = [requesterOf('greedy'), requesterOf('modest')]
  const ask = (requester: Requester) =>
    runInline(requester, () => {
      order.push(requester.name)
      busy(6)
    })
  const failing = runInline(greedy, () => {
    busy(6)
    throw new Error('broke')
  })
  await Promise.all([
    expect(failing).rejects.toThrow('broke'),
    ...Array.from({ length: 4 }, () => ask(greedy)),
    ask(modest),
  ])
  expect(order.indexOf('modest')).toBeLessThanOrEqual(1)
  expect(greedy.spent).toBeGreaterThanOrEqual(30)
  expect(modest.spent).toBeGreaterThanOrEqual(6)
})
