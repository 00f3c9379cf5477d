import { expect, test } from 'vitest'
import type { Terms } from '../../api/shapes.js'
import { lineDiff } from './lineDiff.js'
import { changeWarnings, partsOf, termsOf, withTerms } from './terms.js'

const token = `0x${'ab'.repeat(20)}` as const

test('a text is terms when it is a JSON object', () => {
  expect(termsOf('{"chains":[1]}')).toEqual({ chains: [1] })
  for (const text of ['', '{', '[]', 'null', '3']) expect(termsOf(text)).toBeUndefined()
})

test('a member that becomes undefined goes', () => {
  expect(withTerms({ chains: [1], deploymentOnly: true }, { chains: undefined })).toEqual({
    deploymentOnly: true,
  })
})

test('terms in short parts', () => {
  const terms: Terms = {
    chains: [10],
    calls: {
      allow: [
        { target: token, function: 'mint(uint256)' },
        { target: 'sender', function: null },
      ],
    },
    maxFeePerGas: '20000000000',
    budgets: [
      { per: 'sender', limit: { count: 20 }, window: 'day' },
      { per: 'operation', limit: { wei: '10000000000000000' } },
    ],
  }
  expect(partsOf(terms)).toEqual([
    'chain 10',
    'mint(uint256) → 0xabab…abab',
    'plain transfers → the sender',
    'at most 20 gwei',
    '20 operations a day per sender',
    '0.01 Ξ an operation',
  ])
  expect(partsOf({})).toEqual([])
})

test('a policy that is off, and a budget that counts anew, cause a warning', () => {
  const of = (window: 'day' | 'week'): Terms => ({
    budgets: [{ per: 'sender', limit: { count: 1 }, window }],
  })
  const change = { active: true, stored: of('day') }
  expect(changeWarnings(of('day'), change)).toEqual([])
  expect(changeWarnings(of('week'), change)[0]).toContain('counts from 0')
  expect(changeWarnings(of('day'), { ...change, active: false })[0]).toContain('is off')
})

test('lines of a change stand in one order', () => {
  expect(lineDiff('a\nb\nc', 'a\nx\nc').map(({ kind, text }) => `${kind} ${text}`)).toEqual([
    'same a',
    'gone b',
    'new x',
    'same c',
  ])
})
