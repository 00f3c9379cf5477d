import { describe, expect, it } from 'vitest'
import { changedContext } from './paymasterContext.js'

describe('EREP-055', () => {
  const paymaster = { role: 'paymaster', address: `0x${'a1'.repeat(20)}` } as const

  it('lets a context of the same size pass', () => {
    expect(changedContext(paymaster, 64, 64)).toEqual([])
  })

  it('forbids a longer and a shorter one', () => {
    for (const now of [0, 63, 65]) {
      expect(changedContext(paymaster, 64, now)).toMatchObject([
        { rule: 'EREP-055', entity: 'paymaster', address: paymaster.address },
      ])
    }
  })
})
