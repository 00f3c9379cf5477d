import type { Terms } from '../../api/shapes.js'
import { decimalOf } from '../../parts/amounts.js'
import { grouped, shortOf } from '../../parts/format.js'

export type Call = NonNullable<Terms['calls']>['allow'][number]
export type Budget = NonNullable<Terms['budgets']>[number]

/** The terms of a text; undefined = it is no JSON object. What else is wrong, the service says. */
export function termsOf(text: string): Terms | undefined {
  try {
    const value: unknown = JSON.parse(text)
    const isObject = typeof value === 'object' && value !== null && !Array.isArray(value)
    return isObject ? (value as Terms) : undefined
  } catch {
    return undefined
  }
}

export function textOf(terms: unknown): string {
  return JSON.stringify(terms, null, 2)
}

/** Terms with some members changed; undefined takes one out. */
export function withTerms(terms: Terms, changes: Partial<Record<keyof Terms, unknown>>): Terms {
  const entries = Object.entries({ ...terms, ...changes }).filter(
    ([, value]) => value !== undefined,
  )
  return Object.fromEntries(entries) as Terms
}

/** A limit in words: `0.5 Ξ`, `20 USD`, `100 operations`. */
export function limitText(limit: Budget['limit']): string {
  if ('wei' in limit) return `${decimalOf(String(limit.wei), 18)} Ξ`
  if ('usd' in limit) return `${limit.usd} USD`
  return `${grouped(limit.count)} operations`
}

export function windowText(window: Budget['window']): string {
  if (window === undefined || window === 'never') return 'ever'
  if (typeof window === 'string') return `a ${window}`
  return `in ${grouped(window.rollingSeconds)} s`
}

export function callText({ target, function: called }: Call): string {
  const to =
    target === 'any' ? 'any contract' : target === 'sender' ? 'the sender' : shortOf(target)
  const what = called === null ? 'plain transfers' : (called ?? 'anything')
  return `${what} → ${to}`
}

/** What terms allow, in short parts; none = everything. */
export function partsOf(terms: Terms): readonly string[] {
  const { chains, allowSenders, denySenders, calls, budgets, maxFeePerGas } = terms
  return [
    ...(chains ? [`chain ${chains.join(', ')}`] : []),
    ...(allowSenders ? [`${grouped(allowSenders.length)} senders`] : []),
    ...(denySenders && denySenders.length > 0
      ? [`not ${grouped(denySenders.length)} senders`]
      : []),
    ...(terms.deploymentOnly ? ['first operations only'] : []),
    ...(calls?.allow?.slice(0, 2).map(callText) ?? []),
    ...(calls?.allow && calls.allow.length > 2 ? [`and ${calls.allow.length - 2} more calls`] : []),
    ...(maxFeePerGas ? [`at most ${decimalOf(String(maxFeePerGas), 9)} gwei`] : []),
    ...(budgets?.map((budget) =>
      budget.per === 'operation'
        ? `${limitText(budget.limit)} an operation`
        : `${limitText(budget.limit)} ${windowText(budget.window)} per ${budget.per}`,
    ) ?? []),
    ...(terms.webhookMode === 'always' ? ['a webhook must approve'] : []),
  ]
}

type Draft = {
  readonly active: boolean
  /** The terms as they are stored; undefined = a new policy. */
  readonly stored: Terms | undefined
}

/** What somebody should know of a change before it is stored; of the terms alone, the service says it. */
export function changeWarnings(
  { budgets = [] }: Terms,
  { active, stored }: Draft,
): readonly string[] {
  const windowsBefore = new Set(stored?.budgets?.map(keyOfBudget))
  const removed = [...windowsBefore].filter(
    (key) => !budgets.some((each) => keyOfBudget(each) === key),
  )
  return [
    ...(active ? [] : ['The policy is off: it applies to nobody until it is on.']),
    ...(removed.length > 0 ? ['A budget with another subject, unit or window counts from 0.'] : []),
  ]
}

function keyOfBudget({ per, limit, ...budget }: Budget): string {
  const window = 'window' in budget ? budget.window : undefined
  return JSON.stringify([per, Object.keys(limit), window ?? 'never'])
}
