import { expect, test } from 'vitest'
import { OverloadedError } from '../base/errors/requestErrors.js'
import { createSemaphore } from './createMempool.js'

test('a semaphore refuses callers above its limit at once, and admits others when one leaves', async () => {
  const enter = createSemaphore(2)
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
