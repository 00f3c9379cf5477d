import type { Spend } from '../../api/shapes.js'
import { changeOf } from '../../parts/format.js'

/** Ways in which spending is put together. */
export const groupings = ['app', 'policy', 'chain', 'day'] as const
export type Grouping = (typeof groupings)[number]

/** A span of days in UTC, the end excluded; a month where the name says no other. */
export type Span = { readonly from: Date; readonly until: Date }

const DAY = 86_400_000

/** The months that are offered, the newest first: `2026-11`. */
export function monthsUntil(now: Date, count: number): readonly string[] {
  return Array.from({ length: count }, (_, back) => monthOf(now, -back))
}

function monthOf(date: Date, by: number): string {
  return new Date(Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + by))
    .toISOString()
    .slice(0, 7)
}

/** The days of a month. */
export function spanOfMonth(month: string): Span {
  const from = new Date(`${month}-01T00:00:00.000Z`)
  return { from, until: new Date(`${monthOf(from, 1)}-01T00:00:00.000Z`) }
}

/**
 * The days to compare with: the month before; of a month that is not over, as many of its days, so that a part is not
 * compared with a whole.
 */
export function spanBefore({ from, until }: Span, now: Date): Span {
  const before = spanOfMonth(monthOf(from, -1))
  if (now >= until) return before
  const days = Math.ceil((now.getTime() - from.getTime()) / DAY)
  const end = Math.min(before.until.getTime(), before.from.getTime() + days * DAY)
  return { from: before.from, until: new Date(end) }
}

/** The key of a line in a grouping. */
export function keyOf(line: Spend, grouping: Grouping): string {
  if (grouping === 'app') return line.appId
  if (grouping === 'policy') return line.policyId ?? ''
  return grouping === 'chain' ? String(line.chainId) : line.day
}

/** Lines by what they have in common, in the order in which they first came. */
export function groupsOf(
  lines: readonly Spend[],
  grouping: Grouping,
): ReadonlyMap<string, readonly Spend[]> {
  const groups = new Map<string, Spend[]>()
  for (const line of lines) {
    const key = keyOf(line, grouping)
    const group = groups.get(key)
    if (group === undefined) groups.set(key, [line])
    else group.push(line)
  }
  return groups
}

/** A cost with the sign of its coin; `usd` is undefined where the coin has no price. */
export type Priced = {
  readonly coin: string
  readonly wei: string
  readonly usd: number | undefined
}

const USD = 'USD'

/** What all of the costs can be added in: USD where each has a price, or their one coin; undefined = in nothing. */
export function unitOf(costs: readonly Priced[]): string | undefined {
  if (costs.every(({ usd }) => usd !== undefined)) return USD
  const [coin, ...others] = coinsIn(costs)
  return others.length === 0 ? coin : undefined
}

/** The sum of the costs in a unit that `unitOf` gave, coins in wei. */
export function sumIn(unit: string, costs: readonly Priced[]): number {
  return costs.reduce((sum, { usd, wei }) => sum + (unit === USD ? (usd ?? 0) : Number(wei)), 0)
}

/** Costs against those before, in a unit that both have: `+12 % to before`; empty where there is none. */
export function changeBetween(costs: readonly Priced[], before: readonly Priced[]): string {
  const unit = unitOf([...costs, ...before])
  return unit === undefined ? '' : changeOf(sumIn(unit, costs), sumIn(unit, before))
}

/** Sorts by the USD that are known, the most first; what has no price comes last, by coin and then by amount. */
export function byWorth(a: readonly Priced[], b: readonly Priced[]): number {
  const usd = sumIn(USD, b) - sumIn(USD, a)
  if (usd !== 0) return usd
  const [coins, others] = [coinsIn(a), coinsIn(b)]
  if (coins.join() !== others.join()) return coins.join() < others.join() ? -1 : 1
  const [coin = '', ...more] = coins
  return more.length > 0 ? 0 : sumIn(coin, b) - sumIn(coin, a)
}

function coinsIn(costs: readonly Priced[]): readonly string[] {
  return [...new Set(costs.map(({ coin }) => coin))].sort()
}

/** What lines cost for unused gas, as costs, with the numbers of operations of which that is known and of all. */
export function wasteOf(lines: readonly Spend[]) {
  const count = (name: 'measured' | 'operations') =>
    lines.reduce((sum, line) => sum + Number(line[name]), 0)
  const costs = lines
    .filter(({ wastedWei }) => wastedWei !== '0')
    .map(({ chainId, wastedWei: wei }) => ({ chainId, wei }))
  return { costs, measured: count('measured'), operations: count('operations') }
}
