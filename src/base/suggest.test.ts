import { expect, test } from 'vitest'
import { nearestOf, suggest } from './suggest.js'

const known = ['rpcUrls', 'chainId', 'webhookUrl', 'port']

test.each([
  ['rpcUrl', 'rpcUrls'],
  ['chainid', 'chainId'],
  ['prot', 'port'],
  ['url', 'webhookUrl'],
  ['colour', undefined],
  ['x'.repeat(500), undefined],
])('%s means %s', (text, name) => {
  expect(nearestOf(text, known)).toBe(name)
})

test('a suggestion ends a sentence, or is empty', () => {
  expect(suggest('prot', known)).toBe(': did you mean "port"?')
  expect(suggest('colour', known)).toBe('')
})
