import { expect, test, vi } from 'vitest'
import { createRecent } from './createRecent.js'

test('an answer stands for its age under its name, and so does a failure', async () => {
  vi.useFakeTimers()
  try {
    const recent = createRecent<number>(2_000)
    let asked = 0
    const ask = (name: string) =>
      recent(name, async () => {
        asked += 1
        if (asked === 1) throw new Error('away')
        return asked
      })
    await expect(Promise.all([ask('a'), ask('a')])).rejects.toThrow('away')
    vi.advanceTimersByTime(1_999)
    await expect(ask('a')).rejects.toThrow('away')
    expect(await ask('b')).toBe(2)
    vi.advanceTimersByTime(1)
    expect(await ask('a')).toBe(3)
    expect(await ask('b')).toBe(2)
  } finally {
    vi.useRealTimers()
  }
})
