import { describe, expect, test } from 'vitest'
import { stopAll } from './stopAll.js'

describe('stopAll', () => {
  test('undoes in reverse order, and only once', async () => {
    const done: number[] = []
    const steps = [1, 2, 3].map((step) => async () => void done.push(step))
    await stopAll(steps)
    await stopAll(steps)
    expect(done).toEqual([3, 2, 1])
  })

  test('a step that fails is reported, and the others still run', async () => {
    const done: number[] = []
    const steps = [1, 2, 3, 4].map((step) => async () => {
      done.push(step)
      if (step % 2 === 1) throw new Error(`step ${step}`)
    })
    await expect(stopAll(steps)).rejects.toThrow('step 3')
    expect(done).toEqual([4, 3, 2, 1])
  })
})
