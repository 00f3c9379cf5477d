import { describe, expect, test } from 'vitest'
import { namedPolicies } from './evaluatePolicies.js'
import type { AppPolicies } from './policies.js'

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
