import { expect, test, vi } from 'vitest'
import type { HeadEvent } from './headFollower.js'
import { createSeenBlocks } from './seenBlocks.js'

test('says when a head at or above a block was there first', () => {
  vi.useFakeTimers({ now: 1_000 })
  try {
    let hear: (event: HeadEvent) => void = () => {}
    const seenAt = createSeenBlocks({
      onHead: (listener) => {
        hear = listener
        return () => {}
      },
    })
    const head = (number: bigint) => {
      vi.advanceTimersByTime(100)
      hear({ head: { number } as HeadEvent['head'], reorgedFrom: undefined })
    }
    expect(seenAt(5n)).toBeUndefined()
    for (const number of [5n, 6n, 8n, 8n, 7n]) head(number)
    expect([4n, 5n, 6n, 7n, 8n, 9n].map(seenAt)).toEqual([
      undefined,
      1_100,
      1_200,
      1_300,
      1_300,
      undefined,
    ])
    for (let number = 9n; number < 300n; number++) head(number)
    expect(seenAt(8n)).toBeUndefined()
    expect(seenAt(299n)).toBe(1_500 + 291 * 100)
  } finally {
    vi.useRealTimers()
  }
})
