import { expect, test } from 'vitest'
import type { PolicyPreview } from '../../../paymaster/sponsorship.js'
import { encodeWillingPolicies } from './pimlico.js'

const verdict = { name: 'a', scope: 'app', pays: true, code: 'SPONSORED', message: '' } as const
const preview: PolicyPreview = {
  sponsored: true,
  code: 'SPONSORED',
  message: '',
  policyId: 'willing',
  policies: [
    { ...verdict, policyId: 'willing' },
    { ...verdict, policyId: 'not asked about' },
    { ...verdict, policyId: 'unwilling', pays: false },
  ],
}

test('of the named policies those that would pay are answered', () => {
  expect(encodeWillingPolicies(preview, ['unwilling', 'unknown', 'willing'])).toEqual([
    {
      sponsorshipPolicyId: 'willing',
      data: { name: 'a', author: null, icon: null, description: null },
    },
  ])
})

test('none is answered when the sponsorship would be refused all the same', () => {
  expect(encodeWillingPolicies({ ...preview, sponsored: false }, ['willing'])).toEqual([])
})
