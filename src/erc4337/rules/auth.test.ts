import { zeroHash } from 'viem'
import { describe, expect, it } from 'vitest'
import { operationOf } from '../../../test/support/erc7562/memoryChain.js'
import type { Operation } from '../operation.js'
import { conflictingDelegate } from './auth.js'

const SENDER = `0x${'a1'.repeat(20)}` as const
const OTHER = `0x${'b2'.repeat(20)}` as const
const FIRST = `0x${'c3'.repeat(20)}` as const
const SECOND = `0x${'d4'.repeat(20)}` as const

function delegating(delegate: `0x${string}`, sender: `0x${string}` = SENDER): Operation {
  const signature = { nonce: 0n, yParity: 0, r: zeroHash, s: zeroHash } as const
  return operationOf(sender, { authorization: { chainId: 1, address: delegate, ...signature } })
}

describe('AUTH-040', () => {
  it('lets operations of one sender name the same delegate', () => {
    expect(conflictingDelegate(delegating(FIRST), [delegating(FIRST)])).toEqual([])
  })

  it('forbids another delegate', () => {
    const pooled = [delegating(FIRST), delegating(SECOND)]
    expect(conflictingDelegate(delegating(FIRST), pooled)).toMatchObject([
      { rule: 'AUTH-040', entity: 'account', address: SENDER },
    ])
  })

  it('does not care for other senders and operations without authorization', () => {
    const pooled = [delegating(SECOND, OTHER), operationOf(SENDER)]
    expect(conflictingDelegate(delegating(FIRST), pooled)).toEqual([])
    expect(conflictingDelegate(operationOf(SENDER), [delegating(FIRST)])).toEqual([])
  })
})
