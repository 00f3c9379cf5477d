import type { Address } from 'viem'
import type { TermsInput } from './policySchema.js'

/** A rule as the dashboard of the original service has it. */
export type DashboardRule = { readonly active: boolean } & (
  | { readonly kind: 'contract'; readonly data: ContractRule }
  | { readonly kind: 'limit'; readonly data: LimitRule }
  | { readonly kind: 'deployment'; readonly data: object }
  | { readonly kind: 'webhook'; readonly data: WebhookRule }
)

export type ContractRule = {
  readonly address: Address
  /** The ABI as the client sent it. */
  readonly abi: string
  readonly whitelistedMethods: readonly string[]
  /** Signatures of the whitelisted methods, such as `setQuote(string)`. */
  readonly functions: readonly string[]
}

export type LimitRule = {
  readonly type: 'PAYMASTER' | 'SMART_ACCOUNT'
  readonly cycleDuration: { readonly value: number; readonly unit: 'hour' | 'day' }
  readonly threshold: number
  readonly thresholdType: 'COUNT' | 'NATIVE_ASSET'
  /** The threshold in wei or operations, as text. */
  readonly limit: string
}

export type WebhookRule = { readonly url: string; readonly webhookId: string }

export function cycleSeconds({ value, unit }: LimitRule['cycleDuration']): number {
  return value * (unit === 'hour' ? 3_600 : 86_400)
}

/**
 * The policy that equals a dashboard's rules together. Every active rule must hold, but of the
 * contract rules only one. Contract rules without any sponsored method sponsor nothing. Of several
 * limits on the same subject, unit and cycle the lowest holds.
 */
export function dashboardTerms(
  rules: readonly DashboardRule[],
  chainId: number | undefined,
): { readonly active: boolean; readonly terms: TermsInput } {
  const active = rules.filter((rule) => rule.active)
  const contracts = active.flatMap((rule) => (rule.kind === 'contract' ? [rule.data] : []))
  const allow = contracts.flatMap(({ address, functions }) =>
    functions.map((name) => ({ target: address, function: name })),
  )
  return {
    active: contracts.length === 0 || allow.length > 0,
    terms: {
      ...(chainId !== undefined && { chains: [chainId] }),
      ...(allow.length > 0 && { calls: { allow } }),
      deploymentOnly: active.some(({ kind }) => kind === 'deployment'),
      budgets: budgetsOf(active.flatMap((rule) => (rule.kind === 'limit' ? [rule.data] : []))),
      webhookMode: active.some(({ kind }) => kind === 'webhook') ? 'always' : 'request',
    },
  }
}

function budgetsOf(limits: readonly LimitRule[]): NonNullable<TermsInput['budgets']> {
  const lowest = new Map<string, LimitRule>()
  for (const limit of limits) {
    const name = `${limit.type} ${limit.thresholdType} ${cycleSeconds(limit.cycleDuration)}`
    const known = lowest.get(name)
    if (known === undefined || BigInt(limit.limit) < BigInt(known.limit)) lowest.set(name, limit)
  }
  return [...lowest.values()].map(({ type, thresholdType, limit, cycleDuration }) => ({
    per: type === 'PAYMASTER' ? ('app' as const) : ('sender' as const),
    limit: thresholdType === 'COUNT' ? { count: Number(limit) } : { wei: limit },
    window: { rollingSeconds: cycleSeconds(cycleDuration) },
  }))
}
