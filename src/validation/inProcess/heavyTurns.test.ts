import { setTimeout as delay } from 'node:timers/promises'
import { expect, test } from 'vitest'
import { takeHeavyTurn } from './heavyTurns.js'

test('heavy work is done one after the other, whatever becomes of it', async () => {
  const events: string[] = []
  const work = (name: string, fails: boolean) =>
    takeHeavyTurn(async () => {
      events.push(`${name} begins`)
      await delay(1)
      events.push(`${name} ends`)
      if (fails) throw new Error(name)
      return name
    })
  const answers = await Promise.allSettled([work('a', true), work('b', false), work('c', false)])
  expect(answers.map(({ status }) => status)).toEqual(['rejected', 'fulfilled', 'fulfilled'])
  expect(events).toEqual(['a begins', 'a ends', 'b begins', 'b ends', 'c begins', 'c ends'])
})

test('the next begins after a rest as long as the one before kept the thread', async () => {
  const begin = performance.now()
  await takeHeavyTurn(async (count) => count(50))
  const answered = performance.now() - begin
  await takeHeavyTurn(async () => {})
  const next = performance.now() - begin
  expect(answered).toBeLessThan(next)
  expect(next).toBeGreaterThanOrEqual(49)
})
