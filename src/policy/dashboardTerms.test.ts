import fc from 'fast-check'
import { expect, test } from 'vitest'
import {
  cycleSeconds,
  type DashboardRule,
  dashboardTerms,
  type LimitRule,
} from './dashboardTerms.js'
import { termsSchema } from './policySchema.js'

const active = fc.boolean()
const hex = fc.constantFrom(...'0123456789abcdef')
const address = fc
  .string({ unit: hex, minLength: 40, maxLength: 40 })
  .map((digits) => `0x${digits}` as const)
const contract = fc
  .record({ address, functions: fc.subarray(['set(uint256)', 'set(string)', 'pay()']) })
  .map((data) => ({
    kind: 'contract' as const,
    data: { ...data, abi: '[]', whitelistedMethods: [] },
  }))
const limit = fc
  .record({
    type: fc.constantFrom('PAYMASTER' as const, 'SMART_ACCOUNT' as const),
    thresholdType: fc.constantFrom('COUNT' as const, 'NATIVE_ASSET' as const),
    value: fc.integer({ min: 1, max: 31 }),
    unit: fc.constantFrom('hour' as const, 'day' as const),
    threshold: fc.integer({ min: 0, max: 1_000_000_000 }),
  })
  .map(({ value, unit, ...rest }) => ({
    kind: 'limit' as const,
    data: { ...rest, cycleDuration: { value, unit }, limit: String(rest.threshold) },
  }))
const deployment = fc.constant({ kind: 'deployment' as const, data: {} })
const webhook = fc.constant({
  kind: 'webhook' as const,
  data: { url: 'https://a', webhookId: 'b' },
})
const rule: fc.Arbitrary<DashboardRule> = fc
  .tuple(fc.oneof(contract, limit, deployment, webhook), active)
  .map(([given, isActive]) => ({ ...given, active: isActive }))
const rules = fc.array(rule, { maxLength: 12 })

function limitsOf(given: readonly DashboardRule[]): readonly LimitRule[] {
  return given.flatMap((each) => (each.active && each.kind === 'limit' ? [each.data] : []))
}

/** On whom, in what and how long: two limits that agree in it are one budget. */
function subjectOf({ type, thresholdType, cycleDuration }: LimitRule): string {
  return `${type === 'PAYMASTER' ? 'app' : 'sender'} ${thresholdType} ${cycleSeconds(cycleDuration)}`
}

test('whatever the rules, a policy accepts the terms', () => {
  fc.assert(
    fc.property(rules, fc.option(fc.integer({ min: 1 }), { nil: undefined }), (given, chainId) => {
      const { terms } = dashboardTerms(given, chainId)
      expect(() => termsSchema.parse(terms)).not.toThrow()
      expect(terms.chains).toEqual(chainId === undefined ? undefined : [chainId])
    }),
  )
})

test('inactive rules say nothing', () => {
  fc.assert(
    fc.property(rules, (given) => {
      const spoken = given.filter((each) => each.active)
      expect(dashboardTerms(given, 1)).toEqual(dashboardTerms(spoken, 1))
    }),
  )
})

test('each subject, unit and cycle has one budget: the lowest of its limits', () => {
  fc.assert(
    fc.property(rules, (given) => {
      const lowest = new Map<string, bigint>()
      for (const each of limitsOf(given)) {
        const known = lowest.get(subjectOf(each))
        const own = BigInt(each.limit)
        lowest.set(subjectOf(each), known === undefined || own < known ? own : known)
      }
      const { budgets = [] } = dashboardTerms(given, 1).terms
      const found = budgets.map((budget) => {
        const window = 'window' in budget ? budget.window : undefined
        const seconds = typeof window === 'object' ? window.rollingSeconds : undefined
        const isCount = 'count' in budget.limit
        const unit = isCount ? 'COUNT' : 'NATIVE_ASSET'
        const [value] = Object.values(budget.limit)
        return [`${budget.per} ${unit} ${seconds}`, BigInt(value as string | number)]
      })
      expect(new Map(found as [string, bigint][])).toEqual(lowest)
      expect(found).toHaveLength(lowest.size)
    }),
  )
})

test('with contracts only their whitelisted functions are sponsored, and without one nothing', () => {
  fc.assert(
    fc.property(rules, (given) => {
      const contracts = given.flatMap((each) =>
        each.active && each.kind === 'contract' ? [each.data] : [],
      )
      const wanted = contracts.flatMap((each) =>
        each.functions.map((name) => ({ target: each.address, function: name })),
      )
      const { active: isActive, terms } = dashboardTerms(given, 1)
      expect(terms.calls?.allow ?? []).toEqual(wanted)
      expect(isActive).toBe(contracts.length === 0 || wanted.length > 0)
    }),
  )
})

test('one deployment rule or webhook rule binds every sponsorship', () => {
  fc.assert(
    fc.property(rules, (given) => {
      const has = (kind: DashboardRule['kind']) =>
        given.some((each) => each.active && each.kind === kind)
      const { terms } = dashboardTerms(given, 1)
      expect(terms.deploymentOnly).toBe(has('deployment'))
      expect(terms.webhookMode).toBe(has('webhook') ? 'always' : 'request')
    }),
  )
})
