import type { Address, Hex } from 'viem'
import { expect, test } from 'vitest'
import { DELEGATION_MARKER } from '../../../erc4337/delegation.js'
import { termsSchema } from '../policySchema.js'
import { factoryRule } from './policyRules.js'

const named: Address = `0x${'aa'.repeat(20)}`
const other: Address = `0x${'bb'.repeat(20)}`
const marker = DELEGATION_MARKER

test.each<[string, Address | undefined, Hex, boolean]>([
  ['no factory', undefined, '0x', true],
  ['the factory that is named', named, '0x12', true],
  ['another factory', other, '0x', false],
  ['a mere delegation', marker, '0x', true],
  ['a delegation with a call of the account', marker, '0x12', false],
])('%s', (_, factory, factoryData, passes) => {
  const draft = { callData: '0x' as Hex, factory, factoryData }
  const facts = { chainId: 1, at: 1, sender: other, senderExists: false, draft }
  const refusal = factoryRule(termsSchema.parse({ factories: [named] }), facts)
  expect(refusal?.code).toBe(passes ? undefined : 'FACTORY_NOT_ALLOWED')
  expect(factoryRule(termsSchema.parse({}), facts)).toBeUndefined()
})
