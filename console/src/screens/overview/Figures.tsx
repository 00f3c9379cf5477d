import type { ComponentChildren } from 'preact'
import { coinsOfAll, pricedOf, usdOfAll } from '../../api/names.js'
import type { OverviewAnswer } from '../../api/shapes.js'
import { changeOf, grouped, spanOf, usdText } from '../../parts/format.js'
import { hrefOf } from '../../router.js'
import { changeBetween } from '../spending/spending.js'

type FiguresProps = {
  readonly answer: OverviewAnswer
  /** The period of the same length before; undefined while it is not known. */
  readonly before: OverviewAnswer | undefined
}

/** The figures of a period, compared with the one before: each leads to what it counts. */
export function Figures({ answer, before }: FiguresProps) {
  const { totals, inclusionSeconds, spend } = answer
  const { success } = totals
  const usd = usdOfAll(spend)
  const change = (value: (of: OverviewAnswer) => number) =>
    before === undefined ? '' : changeOf(value(answer), value(before))
  const received = change(({ totals: of }) => Number(of.received))
  const spent = before && changeBetween(pricedOf(spend), pricedOf(before.spend))
  const refused = change(refusedOf)
  return (
    <ul class="figures" aria-label="In this period">
      <Figure
        name="Received"
        href={hrefOf('operations')}
        note={received || `${rateOf(totals.receivedPerSecond)} a second`}
      >
        {grouped(totals.received)}
      </Figure>
      <Figure
        name="Included"
        href={hrefOf('operations', { view: 'included' })}
        note={`${rateOf(totals.includedPerSecond)} a second`}
      >
        {grouped(totals.included)}
      </Figure>
      <Figure
        name="Success"
        href={hrefOf('operations', { view: 'failed' })}
        note={failuresOf(totals)}
      >
        {success === null ? '–' : `${(success * 100).toFixed(success === 1 ? 0 : 1)} %`}
      </Figure>
      <Figure
        name="To inclusion"
        href={hrefOf('operations', { view: 'included' })}
        note={
          inclusionSeconds.p95 === null
            ? 'nothing included'
            : `95 % within ${secondsOf(inclusionSeconds.p95)}`
        }
      >
        {secondsOf(inclusionSeconds.p50)}
      </Figure>
      <Figure
        name="Spent"
        href={hrefOf('spending')}
        note={[usd === undefined ? '' : coinsOfAll(spend), spent].filter(Boolean).join(' · ')}
      >
        {spend.length === 0 ? '0' : usd === undefined ? coinsOfAll(spend) : usdText(usd)}
      </Figure>
      <Figure
        name="Refused"
        href={hrefOf('operations', { view: 'refused' })}
        note={refused || 'requests'}
      >
        {grouped(refusedOf(answer))}
      </Figure>
    </ul>
  )
}

function refusedOf({ refusals }: OverviewAnswer): number {
  return refusals.reduce((sum, { count }) => sum + Number(count), 0)
}

type FigureProps = {
  readonly name: string
  readonly href: string
  readonly note: string
  readonly children: ComponentChildren
}

function Figure({ name, href, note, children }: FigureProps) {
  return (
    <li>
      <a href={href}>
        <span class="muted">{name}</span>
        <strong>{children}</strong>
        <span class="muted">{note}</span>
      </a>
    </li>
  )
}

function rateOf(perSecond: number): string {
  return perSecond === 0 ? '0' : perSecond < 0.01 ? '< 0.01' : perSecond.toFixed(2)
}

function secondsOf(seconds: number | null): string {
  return seconds === null ? '–' : spanOf(seconds * 1_000)
}

function failuresOf({ reverted, dropped }: OverviewAnswer['totals']): string {
  return `${grouped(reverted)} failed, ${grouped(dropped)} dropped`
}
