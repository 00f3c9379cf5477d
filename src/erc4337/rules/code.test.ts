import type { Hex } from 'viem'
import { describe, expect, it } from 'vitest'
import { changedCode, type VisitedCode } from './code.js'

const ACCOUNT = `0x${'a1'.repeat(20)}` as const
const LIBRARY = `0x${'b2'.repeat(20)}` as const
const visited: VisitedCode = new Map([
  [ACCOUNT, { role: 'account', address: ACCOUNT }],
  [LIBRARY, { role: 'account', address: ACCOUNT }],
])
function hash(digit: string): Hex {
  return `0x${digit.repeat(64)}`
}
const first = new Map([
  [ACCOUNT, hash('1')],
  [LIBRARY, hash('2')],
])

describe('COD-010', () => {
  it('holds while every visited code stays', () => {
    expect(changedCode(visited, first, new Map(first))).toEqual([])
  })

  it('names the code that changed and who uses it', () => {
    const second = new Map(first).set(LIBRARY, hash('3'))
    expect(changedCode(visited, first, second)).toMatchObject([
      { rule: 'COD-010', entity: 'account', address: ACCOUNT, contract: LIBRARY },
    ])
  })

  it('does not care for other addresses', () => {
    const other = `0x${'c3'.repeat(20)}` as const
    expect(changedCode(visited, first, new Map(first).set(other, hash('4')))).toEqual([])
  })
})
