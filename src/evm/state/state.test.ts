import { describe, expect, it } from 'vitest'
import { CONTRACT, OTHER, UNKNOWN, word, worldOf } from '../../../test/evm/harness.js'
import { overlay } from './state.js'

const base = worldOf({
  [CONTRACT]: { nonce: 3n, balance: 5n, code: '0x01', storage: { 1: 11n, 2: 22n } },
})

describe('overlay', () => {
  it('replaces only what an override names', () => {
    const over = overlay(base, new Map([[CONTRACT, { balance: 9n }]]))
    expect(over.account(CONTRACT)).toEqual({ nonce: 3n, balance: 9n, code: Uint8Array.of(1) })
    expect(over.account(OTHER)).toEqual(base.account(OTHER))
  })

  it('stateDiff keeps the other slots, state clears them', () => {
    const slots = new Map([[word(1), 99n]])
    const diff = overlay(base, new Map([[CONTRACT, { stateDiff: slots }]]))
    expect([1, 2, 3].map((n) => diff.slot(CONTRACT, word(n)))).toEqual([99n, 22n, 0n])
    const whole = overlay(base, new Map([[CONTRACT, { state: slots }]]))
    expect([1, 2, 3].map((n) => whole.slot(CONTRACT, word(n)))).toEqual([99n, 0n, 0n])
  })

  it('stays unknown where the base is, unless the override says everything', () => {
    const part = overlay(UNKNOWN, new Map([[CONTRACT, { balance: 9n }]]))
    expect(part.account(CONTRACT)).toBeUndefined()
    const whole = { nonce: 1n, balance: 9n, code: new Uint8Array(0), state: new Map() }
    const all = overlay(UNKNOWN, new Map([[CONTRACT, whole]]))
    expect(all.account(CONTRACT)).toMatchObject({ nonce: 1n, balance: 9n, hasStorage: false })
    expect(all.slot(CONTRACT, word(1))).toBe(0n)
    expect(part.slot(CONTRACT, word(1))).toBeUndefined()
  })

  it('lets a later layer win', () => {
    const below = overlay(base, new Map([[CONTRACT, { balance: 1n, nonce: 8n }]]))
    const above = overlay(below, new Map([[CONTRACT, { balance: 2n }]]))
    expect(above.account(CONTRACT)).toMatchObject({ nonce: 8n, balance: 2n })
  })
})
