import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { createRecordShare } from './createRecordShare.js'

beforeEach(() => vi.useFakeTimers())
afterEach(() => vi.useRealTimers())

test('each name has fifty in ten seconds, whatever others make', () => {
  const share = createRecordShare()
  const kept = (name: string, asked: number) =>
    Array.from({ length: asked }, () => share(name)).filter(Boolean).length
  expect(kept('one', 1_000)).toBe(50)
  expect(kept('other', 49)).toBe(49)
  vi.advanceTimersByTime(9_999)
  expect(kept('one', 10)).toBe(0)
  expect(kept('other', 10)).toBe(1)
  vi.advanceTimersByTime(1)
  expect(kept('one', 51)).toBe(50)
})
