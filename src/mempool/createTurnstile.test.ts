import { expect, test } from 'vitest'
import { OverloadedError } from '../errors/requestErrors.js'
import { createTurnstile } from './createTurnstile.js'

test('a turnstile refuses what is too much, at once, and lets others in as soon as there is room', async () => {
  const enter = createTurnstile(2)
  const leave: (() => void)[] = []
  const stay = () => new Promise<string>((resolve) => leave.push(() => resolve('done')))
  const first = enter(stay)
  const second = enter(async () => {
    await stay()
    throw new Error('failed inside')
  })
  let begun = false
  const refused = enter(async () => {
    begun = true
  })
  await expect(refused).rejects.toThrow(OverloadedError)
  await expect(refused).rejects.toMatchObject({ status: 503, code: -32005, retryAfter: 1 })
  expect(begun).toBe(false)
  leave[0]!()
  expect(await first).toBe('done')
  expect(await enter(async () => 'third')).toBe('third')
  leave[1]!()
  await expect(second).rejects.toThrow('failed inside')
  expect(await Promise.all([enter(async () => 4), enter(async () => 5)])).toEqual([4, 5])
})
