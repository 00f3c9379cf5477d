import type { Chain, Tank } from '../../api/shapes.js'
import { Amount } from '../../parts/Amount.js'
import { shortOf } from '../../parts/format.js'

/** wei of the deposit that no sponsorship has reserved; undefined = the chain is not served. */
export function freeOf({ deposit, locked }: Pick<Tank, 'deposit' | 'locked'>): bigint | undefined {
  if (deposit === null || locked === null) return undefined
  const free = BigInt(deposit) - BigInt(locked)
  return free > 0n ? free : 0n
}

/** The version of the EntryPoint in which a tank has its deposit. */
export function versionOf({ chainId, entryPoint }: Tank, chains: readonly Chain[]): string {
  const { entryPoints = [] } = chains.find((chain) => chain.chainId === chainId) ?? {}
  const known = entryPoints.find(
    ({ address }) => address.toLowerCase() === entryPoint.toLowerCase(),
  )
  return known === undefined ? shortOf(entryPoint) : `v${known.version}`
}

/** The part of the deposit that is free. */
export function Free({ tank }: { readonly tank: Tank }) {
  const free = freeOf(tank)
  return free === undefined ? (
    <span class="muted" title="This Purser does not serve the chain">
      –
    </span>
  ) : (
    <Amount chainId={tank.chainId} wei={String(free)} />
  )
}

/** Days for which the free part lasts at the pace of the last week. */
export function Lasts({ tank: { runway, lowSince, deposit } }: { readonly tank: Tank }) {
  if (deposit === '0') return <span class="tag bad">empty</span>
  const days = runway?.days ?? undefined
  if (lowSince !== null)
    return <span class="tag bad">low{days === undefined ? '' : `, ${daysText(days)}`}</span>
  if (days === undefined) return <span class="muted">no spending</span>
  return <span class={days < 3 ? 'tag doubt' : 'muted'}>{daysText(days)}</span>
}

/** For how long a tank lasts, in words. */
export function daysText(days: number): string {
  if (days > 3_650) return '> 10 years'
  return `${days < 10 ? days.toFixed(1) : Math.floor(days)} days`
}

/** The tanks that need money first: those below their alert, then by the days that they last. */
export function byUrgency(a: Tank, b: Tank): number {
  return (
    Number(b.lowSince !== null) - Number(a.lowSince !== null) ||
    daysOf(a) - daysOf(b) ||
    Number((freeOf(a) ?? 0n) - (freeOf(b) ?? 0n))
  )
}

function daysOf({ runway }: Tank): number {
  return runway?.days ?? Number.MAX_VALUE
}

/** What a tank does, in a word. */
export function kindOf({ kind }: Pick<Tank, 'kind'>): string {
  return kind === 'gas' ? 'gives gas' : 'takes tokens'
}
