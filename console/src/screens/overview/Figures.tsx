import type { ComponentChildren } from 'preact'
import type { OverviewAnswer } from '../../api/shapes.js'
import { Amount } from '../../parts/Amount.js'
import { grouped, spanOf } from '../../parts/format.js'
import { hrefOf } from '../../router.js'

/** The figures of a period: each leads to what it counts. */
export function Figures({
  answer: { totals, inclusionSeconds, spend, refusals },
}: {
  readonly answer: OverviewAnswer
}) {
  const spent = spend.reduce((sum, { wei }) => sum + BigInt(wei), 0n)
  const refused = refusals.reduce((sum, { count }) => sum + Number(count), 0)
  const { success } = totals
  return (
    <ul class="figures" aria-label="In this period">
      <Figure
        name="Received"
        href={hrefOf('operations')}
        note={`${rateOf(totals.receivedPerSecond)} a second`}
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
      <Figure name="Spent" href={hrefOf('tanks')} note="by sponsorships">
        <Amount wei={roughly(spent)} />
      </Figure>
      <Figure name="Refused" href={hrefOf('operations', { view: 'refused' })} note="requests">
        {grouped(refused)}
      </Figure>
    </ul>
  )
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

/** wei with three significant digits: more do not fit. */
function roughly(wei: bigint): string {
  const unit = 10n ** BigInt(Math.max(0, String(wei).length - 3))
  return String((wei / unit) * unit)
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
