import { describe, expect, test } from 'vitest'
import type { Address } from 'viem'
import { evaluateCost, namedPolicies } from './evaluatePolicies.js'
import type { AppPolicies } from './policies.js'
import { termsSchema } from './policySchema.js'

const policy = (id: string, name: string) => ({ id, name, active: true, terms: {} }) as never
const ofAll = policy('1', 'of all apps')
const shop = policy('2', 'shop')
const winter = policy('3', 'winter')
const policies: AppPolicies = { ofAccount: [ofAll], ofApp: [shop, winter] }

describe('a request that names policies', () => {
  test.each([
    [undefined, [shop, winter]],
    [['2'], [shop]],
    [['winter'], [winter]],
    [
      ['winter', 'unknown', '2'],
      [shop, winter],
    ],
  ])('%j limits those of the app, never those of the account', (policyIds, ofApp) => {
    expect(namedPolicies(policies, policyIds)).toEqual({ ofAccount: [ofAll], ofApp })
  })

  test.each([[['sp_unknown']], [['of all apps']], [['1']], [['Shop']], [[]]])(
    '%j is refused where the app has none of that id or name',
    (policyIds) => {
      expect(namedPolicies(policies, policyIds)).toMatchObject({
        refusal: { code: 'POLICY_UNKNOWN' },
      })
    },
  )

  test('is refused by an app without policies too, which would sponsor anything', () => {
    expect(namedPolicies({ ofAccount: [], ofApp: [] }, ['sp_1'])).toHaveProperty('refusal')
  })
})

test('delegators multiply the budgets of all policies up to a bound', () => {
  const budgets = Array.from({ length: 50 }, (_, place) => ({
    per: 'delegator' as const,
    limit: { count: 1 },
    window: { rollingSeconds: 60 + place },
  }))
  const terms = termsSchema.parse({ budgets })
  const ofAccount = [1, 2, 3, 4, 5].map((id) => ({
    id: String(id),
    appId: undefined,
    name: String(id),
    active: true,
    terms,
  }))
  const sender: Address = `0x${'1'.repeat(40)}`
  const facts = { appId: '', sender, maxCost: 1n, at: 1, maxFeePerGas: 1n, webhooksAsked: 0 }
  const delegators = Array<Address>(50).fill(sender)
  const evaluate = (policies: typeof ofAccount) =>
    evaluateCost(
      { ofAccount: policies, ofApp: undefined },
      { ...facts, delegators, price: undefined },
    )
  expect(evaluate(ofAccount.slice(0, 4)).passed).toBeDefined()
  expect(evaluate(ofAccount)).toMatchObject({
    policyId: '5',
    refusal: { code: 'CALL_DATA_UNKNOWN' },
  })
})
